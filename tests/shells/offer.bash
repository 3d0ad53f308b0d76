# offer.bash SCRIPT "regard tr": what bash offers at the end of the line, one a line.
source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 != *" " && $2 != *= ]] || COMP_WORDS+=("")
[[ $2 != *= ]] || unset 'COMP_WORDS[-1]' # the = itself is the word then
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
# What bash does after the function; outside of a completion, compopt fails.
compopt() {
  case $2 in
    default) mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[-1]}") ;;
    dirnames) mapfile -t COMPREPLY < <(compgen -d -- "${COMP_WORDS[-1]}") ;;
  esac
}
_regard "${COMP_WORDS[0]}" "${COMP_WORDS[-1]#=}"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
