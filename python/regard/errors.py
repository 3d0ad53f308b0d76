"""The exceptions of regard. Their messages say what is wrong, where, and what to do."""


class Error(RuntimeError):
    """Base class of the errors that regard detects."""


class ConfigError(Error, ValueError):
    """An argument or option is unknown or out of range, or does not fit the model."""


class InputError(Error, ValueError):
    """A text is not UTF-8 or does not fit the model, or two lists differ in length. Names the line, from 1."""


class CheckpointError(Error):
    """A model folder is damaged, or is not a model."""


class EnvironmentError(Error):
    """A file, a device or a processor feature is missing, there is too little memory, or the process was forked."""
