#compdef capkeeper
_capkeeper() {
  local previous="${words[CURRENT-1]}" found=
  local -a typed=("${(@)words[2,CURRENT-1]}")
__words__
  compadd -- ${=found} || _files
}
if [[ ${funcstack[1]} == _capkeeper ]]; then _capkeeper "$@"; else compdef _capkeeper capkeeper; fi
