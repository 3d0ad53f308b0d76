# offer.zsh SCRIPT "regard tr": what zsh offers at the end of the line, one a line. An interactive zsh in a
# terminal of its own completes it; what is added to the list is printed between two marks.
zmodload zsh/zpty
setopt extendedglob
setup=$(mktemp)
cat >$setup <<EOF
PROMPT=
unsetopt auto_cd
fpath=(${1:h} \$fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
opened() { print -r -- '<<' }
closed() { print -r -- '>>'; exit }
compprefuncs=(opened)
comppostfuncs=(closed)
compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || {
    local -a hits
    builtin compadd -A hits "\$@"
    (( \$#hits )) && print -rl -- \$hits
  }
  builtin compadd "\$@"
}
print ready
EOF
zpty z zsh -f -i
zpty -w z "source $setup"
while zpty -r z line && [[ $line != *ready* ]]; do :; done
zpty -w -n z "$2"$'\t'
inside=false
while zpty -r z line; do
  line=${line%$'\n'}
  line=${line%%$'\r'##}
  [[ $line != *'>>'* ]] || break
  [[ $inside == false ]] || print -r -- $line
  [[ $line != *'<<'* ]] || inside=true
done
rm -f $setup
