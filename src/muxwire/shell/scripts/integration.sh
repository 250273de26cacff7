# dash, busybox ash, ksh93 through $ENV. They have no prompt hook: P rides in PS1.
if [ -z "${_mxw_n-}" ]; then
  _mxw_n=$MUXWIRE_NONCE _mxw_file=$MUXWIRE_BODY
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
    HISTFILE=${_mxw_file%/*}/history
  fi
  _mxw_q=0 _mxw_1=${PS1-\$ } _mxw_2= _mxw_3=
  [ -n "${MUXWIRE_COUNTS-}" ] && _mxw_2='\[' _mxw_3='\]' # busybox counts the prompt's columns
  unset MUXWIRE_COUNTS
  unset PS1 # drop the export flag: nested shells must not inherit the mark
  _mxw_p="$_mxw_2$(\command printf '\033]7770;P;%s;' "$_mxw_n")"'$((_mxw_q=_mxw_q+1));$$;$?;$PWD;'"$_mxw_n$(\command printf '\007')$_mxw_3"
  # The prompt's end: room for our line, the cursor is saved, and A. ksh takes an A there for text, and cannot say whether
  # its editor is up by then: it says so before its prompt. PS2 has an A too.
  _mxw_k="$(\command printf '\033D\033D\033D\033M\033M\033M\0337')" _mxw_d=$(\command printf '\033]7770;A;%s;' "$_mxw_n")
  if [ -n "${KSH_VERSION-}" ]; then _mxw_p="$_mxw_p${_mxw_d}3$(\command printf '\007')"; else _mxw_k="$_mxw_k${_mxw_d}0$(\command printf '\007')"; fi
  _mxw_k=$_mxw_2$_mxw_k$_mxw_3
  PS2="${PS2-> }$_mxw_2${_mxw_d}2$(\command printf '\007')$_mxw_3"
  PS1=$_mxw_p$_mxw_1$_mxw_k
  unset _mxw_1 _mxw_2 _mxw_3
  # S, and `$?` as it was. `set` need not show the text.
  _mxw_a() {
    _mux=
    \command printf "$_mxw_a" >/dev/tty
    return "$_mxw_s"
  }
  # A shell that traces is silent from the typed line to S, and from E to the line's end (`_mxw_t`): what is
  # redirected does not show, and the rest is not traced. `$?` is an argument, for PS4 may run commands.
  _mxw_t=
  # E. Only the mark itself goes to the tty: a trap of the user's may run here.
  _mxw_e() {
    _mxw_s=$1
    case $- in *x*) _mxw_t=x; \set +x ;; esac
    _mxw_h
    \command printf '\033]7770;E;%s;%s;%s;%s\007' "$_mxw_d" "$_mxw_s" "${PWD-}" "$_mxw_d" >/dev/tty
    _mxw_d=
    _mxw_i
  }
  # A function called `command` hides the word by which all others are reached. It is removed, and N says so. Keeps $?, or
  # returns what it is given for that; where there is none, the inner `eval` returns from here. The outer one is for ksh,
  # which keeps what a word meant before.
  _mxw_h() {
    _mxw_u=${2-$?}
    eval "\\command eval '${1-}return \"\$_mxw_u\"'"
    unset -f command
    \command printf '\033]7770;N;%s;1\007' "$_mxw_n" >/dev/tty
    return "$_mxw_u"
  }
  # The end of the text: E, unseen by the user's trace, and 0. The empty line ends a backslash's continuation.
  _mxw_c='
if _mxw_e "$?"; then :; fi >/dev/null 2>&1'
  # The typed line, short, for it wraps: the wrapper's file is sourced, unseen by a trace, and sets the text.
  _muxn=/dev/null
  _muxs() {
    _mux=${1:-$?}
    \. "$_mxw_file"
  } >/dev/null 2>&1
  # Its end: E, if an error kept the text from getting to it; and the command's status, for the user.
  _mux() {
    _mxw_u=${1:-$?}                               # IFS may have taken the digits
    case $_mxw_d in ?*) _mxw_e "$_mxw_u" ;; esac
    case $_mxw_t in x) _mxw_t=; \set -x ;; esac
    return "$_mxw_s"
  } >/dev/null 2>&1
  # E calls it: a command may have set PS1.
  _mxw_i() {
    case ${PS1-} in *"$_mxw_n"*) ;; *) PS1=$_mxw_p${PS1-}$_mxw_k ;; esac
  }
fi
