# capkeeper completion for fish
function __capkeeper_is_at
  set -l chain
  for word in (commandline -opc)[2..]
    set -l longer (string trim -- "$chain $word")
    contains -- "$longer" __paths__; and set chain "$longer"
  end
  test "$chain" = "$argv"
end
__completions__
