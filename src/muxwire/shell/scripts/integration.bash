# bash 4.1 and later. Started as: MUXWIRE_NONCE=.. MUXWIRE_BODY=.. bash --rcfile integration.bash -i (or by login.bash)
if [ -z "${_mxw_n-}" ]; then
\builtin declare -i _mxw_q=0                        # an integer, to which `+=` adds
_mxw_n=$MUXWIRE_NONCE _mxw_file=$MUXWIRE_BODY _mxw_l=${MUXWIRE_LOGIN-}
unset MUXWIRE_NONCE MUXWIRE_BODY MUXWIRE_LOGIN MUXWIRE_FILES # nothing of ours stays exported
# A DEBUG trap would run before each word of ours. So it is set anew, with a condition before the user's text: not from
# Q to the prompt hook (`_mxw_f`), in our functions (`set -T`), or before what has a name of ours in it. A `case` leaves
# `$?` and `$_` alone: where `$_` is another one after a word of ours, a new trap has run. This function sees the trap,
# and sets it for all, because it has the trace attribute.
_mxw_trap() {
  _mxw_hide
  _mxw_u=$(\builtin trap -p DEBUG)
  case $_mxw_u in *'trap -- '*'{_mxw_f:+x}'* | "") \builtin return 0 ;; esac
  \builtin eval "set -- ${_mxw_u#*trap -- }"
  \builtin trap -- 'case ${_mxw_f:+x}:${FUNCNAME-}:$BASH_COMMAND in x:* | *_mxw_* | *:_mux* | *\$_mux*) ;; *) '\
"$1"$'\n;; esac' DEBUG
}
\builtin declare -ft _mxw_trap
# Until the next Q has looked closer, our words are hidden.
_mxw_hide() {
  _mxw_g= _mxw_k=
}

if [ -n "$_mxw_l" ]; then
  [ -r /etc/profile ] && . /etc/profile
  for _mxw_l in ~/.bash_profile ~/.bash_login ~/.profile; do
    [ -r "$_mxw_l" ] && { . "$_mxw_l"; break; }
  done
else                                                # bash itself reads /etc/bash.bashrc where it is built to
  [ -r ~/.bashrc ] && . ~/.bashrc
fi
[ -z "${MUXWIRE_TMUX-}" ] || unset TMUX TMUX_PANE MUXWIRE_TMUX # after the user's files, which may start a tmux without it
{ _mxw_f=1; \builtin : _mxw_file; [[ $_ == _mxw_file ]] || _mxw_trap; } &>/dev/null
# ble.sh replaces readline and its key bindings, ours too, and keeps what commands write to stderr: it is detached here.
case ${BLE_VERSION-} in
  ?*) case ${_ble_attached-} in ?*) ble-detach/impl ;; esac
      ble-attach() { \builtin :; } ;;
esac
_mxw_s=0 _mxw_a= _mxw_c0=none _mxw_k0=none _mxw_g= _mxw_k= _mxw_d= _mxw_z= _mxw_head=$'\e]7770;Q;'
_mxw_w= _mxw_to= _mxw_size= _mxw_ps1= _mxw_ps2=$'\\[\e]7770;A;'$_mxw_n$';2\a\\]'

# What a trace or the user's traps write where words of ours stand goes to /dev/null: `&>/dev/null` takes bash a third of
# the time of a redirection that is in a variable.

# P: a prompt is about to be drawn; nothing if Q has said so. Keeps $? for whatever runs after it. Here and below only the
# mark itself goes to the tty: with functrace the user's traps run in our functions too.
_mxw_p() {
  _mxw_s=$?
  _mxw_tell
  \builtin return "$_mxw_s"
}
_mxw_tell() {
  PS1=${PS1%"$_mxw_ps1"} _mxw_a=
  case $_mxw_f in
    "") _mxw_q+=1 _mxw_k=
        _mxw_m=$'\e]7770;P;'"$_mxw_n;$_mxw_q;$$;$_mxw_s;${PWD-};$_mxw_n"$'\a'
        _mxw_h
        \builtin printf %s "$_mxw_m" >&0 || \builtin printf %s "$_mxw_m" >/dev/tty ;;
  esac
  _mxw_main                                         # our line did not come to S
  \builtin unset -v _mxw_p1
  _mxw_f=
}

# The prompt's last bytes, which the last prompt hook puts on: they make room for our line, save the cursor, and say (A)
# that the prompt is drawn. P and S take them off again: who compares PS1 with what they set it to finds that. In a
# window where our line (46 columns) needs more than two rows, the end is not saved, and A says so. A shell that traces
# is silent from the key for our line to S, and from Q to here (`_mxw_w`).
_mxw_on() {
  _mxw_u=$?
  [[ ${COLUMNS-}:${LINES-}:$SHELLOPTS == "$_mxw_size" ]] || _mxw_room
  PS1=${PS1-}$_mxw_ps1
  case $_mxw_w in x) _mxw_w=; \builtin set -x ;; esac
  \builtin return "$_mxw_u"
}
_mxw_room() {
  _mxw_size=${COLUMNS-}:${LINES-}:$SHELLOPTS _mxw_ps1=$'\eD\eD\eM\eM\e7' _mxw_v=0
  case :$SHELLOPTS: in *:emacs:* | *:vi:*) _mxw_v=1 ;; esac
  [[ ${COLUMNS:-80} -gt 46 && ${LINES:-24} -gt 3 ]] || _mxw_ps1= _mxw_v=$((_mxw_v * 4))
  _mxw_ps1="\\[$_mxw_ps1"$'\e]7770;A;'"$_mxw_n;$_mxw_v"$'\a\\]'
  case ${PS2-} in *"$_mxw_ps2") ;; *) PS2=${PS2-}$_mxw_ps2 ;; esac
}

# Back from the alternate screen, to which the user's PS0 was sent.
_mxw_main() {
  case $_mxw_to in ?*) _mxw_to=; \builtin printf '\e[?1049l' >/dev/tty ;; esac
}

# S, where our words could show, or PS0 does not print it. `set` need not show the text. The clock (bash 5) is read here and
# by Q: how long the command took.
_mxw_a() {
  PS1=${_mxw_p1-${PS1%"$_mxw_ps1"}}
  _mxw_main
  _mxw_b= _mxw_x=${EPOCHREALTIME-}
  \builtin printf %s "$_mxw_t" >&0 || \builtin printf %s "$_mxw_t" >/dev/tty
  case $_mxw_w in x) _mxw_w=; \builtin set -x ;; esac
}

# Q: E and P in one mark, and 0. Nothing is to come before the prompt but what comes after P too. The terminal is what the
# shell reads from: a descriptor is quicker than its name. Where the builtins work, and all else is as it was found last
# (`_mxw_g`), nothing shows the words of ours that follow, as long as `$-` stays, `$?` is 0 and no person has been at a
# prompt, as `_mxw_k` says. Then the prompt gets its last bytes here, if no hook of the user's comes before it (`_mxw_z`),
# PS1 is kept as it was (`_mxw_p1`), and our hook has nothing left to do (`_mxw_once`). Bash copies a function for each
# call: what is rare stands in another one.
_mxw_e() {
  _mxw_s=$? _mxw_x=:${_mxw_x-}:${EPOCHREALTIME-} _mxw_f=1 _mxw_q+=1 _mxw_u=
  \builtin printf -v _mxw_u 7 &&
    [[ $_mxw_u${#_mxw_x}:${PROMPT_COMMAND+${#PROMPT_COMMAND}}:${#SHELLOPTS}:${#BASHOPTS}:$-:${HISTCONTROL-}:${COLUMNS-}:${LINES-} == $_mxw_g ]] &&
    \builtin printf %s "$_mxw_head$_mxw_d;$_mxw_s$_mxw_x;$_mxw_q;$_mxw_n;${PWD-};$_mxw_d"$'\a' >&0 &&
    _mxw_d= _mxw_a= _mxw_k=$-$_mxw_k0 _mxw_p1=${PS1-} PS1=$_mxw_p1$_mxw_z &&
    case $_mxw_z in ?*) PROMPT_COMMAND=$_mxw_once ;; esac || _mxw_look
}
# The rest of it: the mark was not printed, or something has changed. A command may have disabled a builtin that the mark
# needs, or defined a function of its name; `builtin` gets past a function, unless that is called `builtin`. What was
# changed is repaired, and reported (N) before Q; if it was `return` alone, behind it. `unset` makes a variable like any
# other of the clock: what is no time does not go into the mark.
_mxw_look() {
  case $_mxw_x in *[!0-9.,:]*) _mxw_x= ;; esac
  case $_mxw_u in 7) _mxw_end ;; esac
  _mxw_h "" 0
  _mxw_end
  _mxw_i _mxw_e
  _mxw_p1=${PS1-} _mxw_p1=${_mxw_p1%"$_mxw_ps1"} PS1=$_mxw_p1$_mxw_z
}
_mxw_end() {
  case $_mxw_d in
    ?*) \builtin printf %s "$_mxw_head$_mxw_d;$_mxw_s$_mxw_x;$_mxw_q;$_mxw_n;${PWD-};$_mxw_d"$'\a' >/dev/tty && _mxw_d= _mxw_a= ;;
  esac
}

# If a command has hidden or disabled one of them, it is put back, and N says so. Keeps $?, or returns what it is given
# for that; if all is well, the `eval` returns from here.
_mxw_h() {
  _mxw_u=${2-$?} _mxw_v=
  \builtin eval "${1-}"'\builtin printf -v _mxw_v 7x && \builtin return "$_mxw_u"'
  \unset -f builtin
  \enable builtin
  \builtin enable eval printf . return bind declare local unset enable
  \builtin printf '\033]7770;N;%s;1\007' "$_mxw_n" >/dev/tty
  \builtin return "$_mxw_u"
}

# The end of the text: Q, unseen by the user's traps and trace, and 0. The empty line ends a backslash's continuation. It
# is short, for bash parses it once more for each command. `$_` is not `_mxw_e` if a DEBUG trap has run between, which
# is a new one.
_mxw_c='
{ _mxw_e;[[ $_ = _mxw_e ]]||_mxw_trap;}&>/dev/null'

# Q, if an error kept the text from getting to it.
_mxw_x() {
  _mxw_e
  _mxw_hide
}

# What the key runs, unseen. The wrapper's file sets what PS0 prints when our line is accepted, S with what comes before it
# (`_mxw_a`), the text, and what else is to be printed before S (`_mxw_o`). Where something may show our words,
# a line is half typed (`_mxw_bound`), or PS0 is not ours alone, the other function sees to that. An empty READLINE_POINT
# leaves the cursor at the line's end. `_mxw_k` has no character of a pattern: in quotes each one takes bash longer.
_mxw_take() {
  _mxw_s=$?
  \builtin . "$_mxw_file"
  [[ $-$_mxw_s:${PS0-}:${READLINE_LINE-no}$_mxw_bound == $_mxw_k ]] &&
    PS1=${_mxw_p1-${PS1%"$_mxw_ps1"}} _mxw_x=${EPOCHREALTIME-} READLINE_LINE=$_mxw_go READLINE_POINT= || _mxw_hidden
}
# The text's first line prints S, hidden, and hands `$?` on; a shell that shows what it reads (`set -v`) gets the bare text.
# `&&` keeps the shell alive under `set -e`, and an ERR trap quiet; without need it would have a DEBUG trap run after S.
_mxw_hidden() {
  case $-:${READLINE_LINE-}$_mxw_bound${_mxw_ps0-}:${READLINE_LINE+x} in *x*:*:x | *:?*:x) _mxw_aside ;; esac
  READLINE_LINE=$_mxw_long READLINE_POINT= _mxw_t=$_mxw_a _mxw_a=
  case $_mxw_q$- in *v*) _mxw_b=${_mxw_b%"$_mxw_c"} ;; esac
  case $_mxw_s in 0) _mxw_v= ;; *) _mxw_v="; _mxw_give && :" ;; esac
  _mxw_b="{ ${_mxw_o}_mxw_a$_mxw_v; } &>/dev/null$_mxw_b" _mxw_o=
}

# Our line: what the key has readline take. The long one says Q, unseen, if a text that can have begun to trace did not come
# to its end: only a text of more than one line can, for bash runs nothing of a line that it cannot parse. A line that is
# typed without the key reads the file too.
_mxw_line=' \builtin eval "$_mxw_b";_mux&&:'
_mxw_long=' \builtin eval "$_muxg";_mux&&:'
_mxw_go=$_mxw_line
_muxg='\builtin eval "$_mxw_b"; { case $_mxw_d in ?*) _mxw_x || :;; esac; _mxw_go=$_mxw_line; } &>/dev/null'
_mux="{ _mxw_take; \\builtin unset -v READLINE_LINE READLINE_POINT; } &>/dev/null; $_muxg"

# The status, for what follows.
_mxw_give() { \builtin return "$_mxw_s"; }

# The end of our line: Q, if an error kept the text from getting to it, and the command's status, for the user. Usually
# there is nothing to do; bash takes as long for a `return` as for three assignments.
_mux() {
  case $_mxw_d$_mxw_s in 0) ;; *) _mxw_rest ;; esac
}
_mxw_rest() {
  case $_mxw_d in ?*) { _mxw_x; } &>/dev/null ;; esac
  _mxw_give
}

# The prompt hook where no other hook is given `$?` (`_mxw_alone`). It returns 0 if Q has announced this prompt already.
# Until P it calls no builtin: if C-c ended a command that had hidden one by a function, there was no Q to put that right.
_mxw_said() {
  _mxw_s=$?
  case $_mxw_f$_mxw_w in 1) _mxw_f= ;; *) _mxw_tell; _mxw_on; [[ -n "" ]] ;; esac
}
_mxw_alone='{ _mxw_said || [[ $_ == _mxw_said ]] || _mxw_trap; } &>/dev/null'
_mxw_once='_mxw_f= PROMPT_COMMAND=$_mxw_alone'

# (Re-)install, and find out whether our words have to be hidden. Q calls it where something has changed, so that it heals
# after `unset PROMPT_COMMAND`, and our last hook stays the last one.
_mxw_i() {
  \builtin local hook='{ _mxw_p && { [[ $_ == _mxw_p ]] || _mxw_trap; }; } &>/dev/null' told
  \builtin local last='{ _mxw_on; } &>/dev/null'
  [[ ${COLUMNS-}:${LINES-}:$SHELLOPTS == "$_mxw_size" ]] || _mxw_room
  case ":${HISTCONTROL-}:" in
    *:ignorespace:* | *:ignoreboth:*) ;;
    *)                                              # bash-preexec removes it; our line may be in the history by then
      HISTCONTROL=${HISTCONTROL:+$HISTCONTROL:}ignorespace told=
      case $_mxw_q in 0) ;; *) told=$(HISTTIMEFORMAT= \builtin history 1 2>/dev/null) ;; esac
      case $told in
        *\;_mux\&\&:) told=${told#"${told%%[0-9]*}"}; \builtin history -d "${told%%[!0-9]*}" ;;
      esac ;;
  esac
  case "${PROMPT_COMMAND[*]-}" in
    "$_mxw_alone" | *_mxw_p*"$last") ;;
    "") \builtin printf -v PROMPT_COMMAND %s "$_mxw_alone" ;;
    *)
      told=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) told=${told#declare -}
      case "${PROMPT_COMMAND[*]}" in *"$_mxw_alone"*) ;; *_mxw_p*) hook=: ;; esac
      case "${told%% *}" in
        *r*) ;;                                     # readonly: live without P, Q still works
        *a*) PROMPT_COMMAND=("${PROMPT_COMMAND[@]//"$_mxw_alone"/:}")
             PROMPT_COMMAND=("$hook" "${PROMPT_COMMAND[@]//"$last"/:}" "$last") ;;
        *) PROMPT_COMMAND=${PROMPT_COMMAND//"$_mxw_alone"/:}
           PROMPT_COMMAND=$hook$'\n'${PROMPT_COMMAND//"$last"/:}$'\n'$last ;;
      esac ;;
  esac
  case "${PROMPT_COMMAND[*]-}" in "$_mxw_alone") _mxw_z=$_mxw_ps1 ;; *) _mxw_z= ;; esac
  _mxw_hide
  case ${1-}$- in
    _mxw_e*[xvTE]*) ;;
    _mxw_e*)
      _mxw_g=7${#_mxw_x}:${PROMPT_COMMAND+${#PROMPT_COMMAND}}:${#SHELLOPTS}:${#BASHOPTS}:$-:${HISTCONTROL-}:${COLUMNS-}:${LINES-} _mxw_k=$-$_mxw_k0 ;;
  esac
  case :${BASHOPTS-}:${PS0-} in
    *:promptvars:*) ;;
    *:"$_mxw_c0") PS0=$_mxw_ps0 ;;                  # it would show our words
  esac
  case $- in *x*) _mxw_w=x; \builtin set +x ;; esac
}
_mxw_h &>/dev/null                                  # a start-up file may have hidden them
case ${COLUMNS-} in "") (\builtin :; \builtin :) ;; esac # bash looks how large the window is (`checkwinsize`)
_mxw_i

# C: a command line was accepted; for our line, S. Older shells have no PS0; the others say so now, as of a prompt number 0.
# What the user's PS0 prints for our line is drawn out of sight, on the alternate screen (`_mxw_to`).
case $BASH_VERSION:${BASHOPTS-}: in
  4.[0-3]*) ;;
  *:promptvars:*)
     _mxw_ps0=${PS0-}
     _mxw_c1=$'\e]7770;C;'$_mxw_n
     PS0=$'${_mxw_a:-$_mxw_c1;$_mxw_q\a}'${PS0:+'$_mxw_to'}${PS0-}
     _mxw_c0=$PS0
     case $_mxw_ps0 in "") _mxw_k0=0:$PS0: ;; esac
     \builtin printf '\033]7770;C;%s;0\007' "$_mxw_n" >/dev/tty ;;
esac

# The private key. What a person has half typed is set aside, our line takes its place, and after the command what was set
# aside comes back, at the cursor with what was typed meanwhile: a macro's rest is read before that. Behind a key that
# waits for more, the key's first ESC was taken for text.
_mxw_half= _mxw_at=0 _mxw_bound= _mxw_o=
_mxw_aside() {
  case $- in *x*) _mxw_w=x; \builtin set +x ;; esac
  \builtin local map
  case ${READLINE_LINE:0:READLINE_POINT} in
    *$'\e') READLINE_LINE=${READLINE_LINE:0:READLINE_POINT-1}${READLINE_LINE:READLINE_POINT} READLINE_POINT=$((READLINE_POINT - 1)) ;;
  esac
  _mxw_half=${_mxw_half:0:_mxw_at}$READLINE_LINE${_mxw_half:_mxw_at}
  _mxw_at=$((_mxw_at + READLINE_POINT))
  case $PS0 in *\$_mxw_to*) _mxw_to=$'\e[?1049h' ;; esac
  case ${_mxw_half:+x}:$_mxw_bound in
    x:)                                             # what the command mode of vi has goes one column to the left
      for map in emacs-standard vi-insert; do \builtin bind -m "$map" '"\e[~": "\e[y\e[x"'; done
      \builtin bind -m vi-command '"\e[~": "\e[y\e[r\e[u"'
      _mxw_bound=x ;;
    :x)
      for map in emacs-standard vi-insert vi-command; do \builtin bind -m "$map" '"\e[~": accept-line'; done
      _mxw_bound= ;;
  esac
}
_mxw_back() {
  READLINE_LINE=${_mxw_half:0:_mxw_at}$READLINE_LINE${_mxw_half:_mxw_at}
  READLINE_POINT=$((_mxw_at + READLINE_POINT)) _mxw_half= _mxw_at=0
}

# The private keys, in these keymaps: our line, and Enter whatever the user bound to it. The plain one (`CSI }`) clears no
# row of the screen, as what `-x` binds does, and forgets what is typed. The other one is a macro, for C-r ends by our ESC,
# and what -x binds is unknown then.
_mxw_k() {
  \builtin local map insert key quoted bound press='\e[s\e[~'
  # Before 4.3 bash does not find what -x binds to more than two keys: the plain key is pressed.
  case $BASH_VERSION in 4.[0-2].*) press='\e[}' ;; esac
  quoted=${_mxw_long/muxg/mux} quoted=${quoted//\\/\\\\} quoted=${quoted//\"/\\\"}
  bound=$'\n'$(\builtin bind -m emacs-standard -s)
  for map; do
    case $map in vi-command) insert=i ;; *) insert= ;; esac
    # So a terminal's answer of this form begins (DCS: XTVERSION, DECRQSS). As M-p it would begin a search, which takes
    # all keys after it, ours too. Where a person has bound it, it stays.
    case $map:$bound in
      emacs-standard:*$'\n"\\eP"'*) ;;
      emacs-standard:*) \builtin bind -m "$map" '"\eP": ""' ;;
    esac
    \builtin bind -m "$map" '"\e[{": kill-whole-line'
    \builtin bind -m "$map" '"\e[~": accept-line'
    \builtin bind -m "$map" "\"\\e[}\": \"\\e[{$insert$quoted\\C-m\""
    \builtin bind -m "$map" '"\e[y": accept-line'
    \builtin bind -m "$map" '"\e[u": vi-movement-mode'
    \builtin bind -m "$map" -x '"\e[s": { _mxw_take; } &>/dev/null'
    \builtin bind -m "$map" -x '"\e[x": { _mxw_back "$_"; } &>/dev/null'
    \builtin bind -m "$map" -x '"\e[r": { _mxw_back "$_"; READLINE_POINT=$((READLINE_POINT + 1)); } &>/dev/null'
    for key in '\e[q' '\e\e[q' '\e\e\e[q' '\C-x\e[q' '\C-x\e\e[q'; do
      case $map:$key in
        vi-*:*C-x*) ;;
        *) \builtin bind -m "$map" "\"$key\": \"$press\"" ;;
      esac
    done
  done
}
_mxw_k emacs-standard vi-insert vi-command 2>/dev/null
unset -f _mxw_k
# A command that unsets all functions gets an error for each of these; without them no command would run any more.
\builtin readonly -f _mux _mxw_rest _mxw_give _mxw_p _mxw_tell _mxw_on _mxw_room _mxw_a _mxw_e _mxw_look _mxw_end \
  _mxw_hide _mxw_said _mxw_h _mxw_x _mxw_i _mxw_trap _mxw_take _mxw_hidden _mxw_main _mxw_aside _mxw_back
_mxw_f=
fi
