# capkeeper completion for bash
_capkeeper() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local typed=("${COMP_WORDS[@]:1:COMP_CWORD-1}") found=
__words__
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _capkeeper capkeeper
