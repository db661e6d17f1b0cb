  local chain= word
  for word in "${typed[@]}"; do
    case "${chain:+$chain }$word" in
__paths__
    esac
  done
  case "$chain:$previous" in
__choices__
    __freeFlags__) __ifFree__; return ;;
  esac
  if __isNone__; then case "$chain" in
__candidates__
  esac; fi
