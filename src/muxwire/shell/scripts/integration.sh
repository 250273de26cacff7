# dash, busybox ash, ksh93 through $ENV. They have no prompt hook: P rides in PS1.
if [ -z "${__muxwire_n-}" ]; then
  __muxwire_n=$MUXWIRE_NONCE __muxwire=$MUXWIRE_BODY
  unset MUXWIRE_NONCE MUXWIRE_BODY MUXWIRE_FILES
  if [ -n "${MUXWIRE_ENV-}" ]; then
    ENV=$MUXWIRE_ENV
    export ENV
    unset MUXWIRE_ENV
    [ -r "$ENV" ] && . "$ENV"
  else
    unset ENV
  fi
  [ -z "${MUXWIRE_TMUX-}" ] || unset TMUX TMUX_PANE MUXWIRE_TMUX # after the user's file, which may start a tmux without it
  if [ -n "${KSH_VERSION-}${MUXWIRE_COUNTS-}" ]; then # they have a history and no way to keep a line out of it
    unset HISTFILE                                   # in a file of its own, and not exported
    HISTFILE=${__muxwire%/*}/history
  fi
  __muxwire_q=0 __muxwire_1=${PS1-\$ } __muxwire_2= __muxwire_3=
  [ -n "${MUXWIRE_COUNTS-}" ] && __muxwire_2='\[' __muxwire_3='\]' # busybox counts the prompt's columns
  unset MUXWIRE_COUNTS
  unset PS1 # drop the export flag: nested shells must not inherit the mark
  __muxwire_p="$__muxwire_2$(\command printf '\033]7770;P;%s;' "$__muxwire_n")"'$((__muxwire_q=__muxwire_q+1));$$;$?;$PWD;'"$__muxwire_n$(\command printf '\007')$__muxwire_3"
  # The prompt's end: room for our line, the cursor is saved, and A. ksh takes an A there for text, and cannot say whether
  # its editor is up by then: it says so before its prompt. PS2 has an A too.
  __muxwire_k="$(\command printf '\033D\033D\033D\033M\033M\033M\0337')" __muxwire_d=$(\command printf '\033]7770;A;%s;' "$__muxwire_n")
  if [ -n "${KSH_VERSION-}" ]; then __muxwire_p="$__muxwire_p${__muxwire_d}3$(\command printf '\007')"; else __muxwire_k="$__muxwire_k${__muxwire_d}0$(\command printf '\007')"; fi
  __muxwire_k=$__muxwire_2$__muxwire_k$__muxwire_3
  PS2="${PS2-> }$__muxwire_2${__muxwire_d}2$(\command printf '\007')$__muxwire_3"
  PS1=$__muxwire_p$__muxwire_1$__muxwire_k
  unset __muxwire_1 __muxwire_2 __muxwire_3
  # S, and `$?` as it was. `set` need not show the text.
  __muxwire_a() {
    _mux=
    \command printf "$__muxwire_a" >/dev/tty
    return "$__muxwire_s"
  }
  # A shell that traces is silent from the typed line to S, and from E to the line's end (`__muxwire_t`): what is
  # redirected does not show, and the rest is not traced. `$?` is an argument, for PS4 may run commands.
  __muxwire_t=
  # E. Only the mark itself goes to the tty: a trap of the user's may run here.
  __muxwire_e() {
    __muxwire_s=$1
    case $- in *x*) __muxwire_t=x; \set +x ;; esac
    __muxwire_h
    \command printf '\033]7770;E;%s;%s;%s;%s\007' "$__muxwire_d" "$__muxwire_s" "${PWD-}" "$__muxwire_d" >/dev/tty
    __muxwire_d=
    __muxwire_i
  }
  # A function called `command` hides the word by which all others are reached. It is removed, and N says so. Keeps $?, or
  # returns what it is given for that; where there is none, the inner `eval` returns from here. The outer one is for ksh,
  # which keeps what a word meant before.
  __muxwire_h() {
    __muxwire_u=${2-$?}
    eval "\\command eval '${1-}return \"\$__muxwire_u\"'"
    unset -f command
    \command printf '\033]7770;N;%s;1\007' "$__muxwire_n" >/dev/tty
    return "$__muxwire_u"
  }
  # The end of the text: E, unseen by the user's trace, and 0. The empty line ends a backslash's continuation.
  __muxwire_c='
if __muxwire_e "$?"; then :; fi >/dev/null 2>&1'
  # The typed line, short, for it wraps: the wrapper's file is sourced, unseen by a trace, and sets the text.
  _muxn=/dev/null
  _muxs() {
    _mux=${1:-$?}
    \. "$__muxwire"
  } >/dev/null 2>&1
  # Its end: E, if an error kept the text from getting to it; and the command's status, for the user.
  _mux() {
    __muxwire_u=${1:-$?}                               # IFS may have taken the digits
    case $__muxwire_d in ?*) __muxwire_e "$__muxwire_u" ;; esac
    case $__muxwire_t in x) __muxwire_t=; \set -x ;; esac
    return "$__muxwire_s"
  } >/dev/null 2>&1
  # E calls it: a command may have set PS1.
  __muxwire_i() {
    case ${PS1-} in *"$__muxwire_n"*) ;; *) PS1=$__muxwire_p${PS1-}$__muxwire_k ;; esac
  }
fi
