# offer.bash SCRIPT "regard tr": what bash offers at the end of the line, one a line.
source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 != *" " && $2 != *= ]] || COMP_WORDS+=("")
[[ $2 != *= ]] || unset 'COMP_WORDS[-1]' # the = itself is the word then
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_regard
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
