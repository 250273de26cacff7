# Runs as `eval` in a sh on another machine; before it come the variables id, name, keep, columns, rows, start
# and shells, and three functions.
m=$(umask)
umask 077
unset TMUX TMUX_PANE TMUX_TMPDIR STY WINDOW WINDOWID TERM TERMCAP TERMINFO COLORTERM COLUMNS LINES PROMPT_COMMAND PS1
unset TERM_PROGRAM TERM_PROGRAM_VERSION TERM_SESSION_ID VTE_VERSION OLDPWD x new
fail() {
  printf 'muxwire:%s\tfail\t%s\t%s\n' "$id" "$1" "$2"
  exit 1
}
# Where tabs begin: in the user's home, unless the carrier says otherwise.
case $start in '~' | '~/'*) start=${HOME:-/}${start#'~'} ;; esac
if [ "$start" ]; then
  x=$(cd -- "$start" 2>/dev/null && pwd) || fail directory "cannot enter $start"
  start=$x
fi
PATH=${PATH:-/usr/bin:/bin}
case :$PATH: in *:/usr/local/bin:*) ;; *) PATH=$PATH:/usr/local/bin ;; esac
export PATH
u=$(id -u)
b=${TMPDIR:-/tmp}/muxwire-$u
own() {
  set -- $(ls -ldn "$1" 2>/dev/null)
  case $1 in drwx------*) [ "$3" = "$u" ] ;; *) false ;; esac
}
tmux=$(command -v tmux) || tmux=
[ "${LC_ALL-}${LC_CTYPE-}${LANG-}" ] || { LANG=C.UTF-8; export LANG; }
# Where there is no tmux, or one that is too old, that of the machine we are reached from is brought, and kept in a
# directory named by its hash. Its libraries are its own: no other program there finds them.
bring() {
  printf 'muxwire:%s\tneed\t%s\n' "$id" "$(uname -m)"
  IFS= read -r x && eval "$x" || exit
  [ "$packed" ] || fail tmux_missing "$lack; $why"
  [ "$machine" = "$(uname -m)" ] ||
    fail tmux_missing "$lack; the one of the other machine is for $machine, this one is $(uname -m)"
  [ -d "$b" ] || x=$(mkdir "$b" 2>&1) || [ -d "$b" ] || fail directory "$x"
  [ ! -h "$b" ] && own "$b" || fail directory "$b is a link, or not yours alone"
  h=$b/tmux-$digest
  if ! [ -x "$h/tmux" ]; then
    for x in gzip head tail wc dirname; do
      command -v "$x" >/dev/null || fail tmux_missing "$lack, and no $x to unpack one with"
    done
    k=$h.$$
    mkdir "$k" && printf 'muxwire:%s\tsend\n' "$id" && head -c "$packed" | gzip -dc >"$k/all" 2>/dev/null
    [ "$(wc -c <"$k/all")" -eq "$size" ] || {
      rm -rf "$k"
      fail tmux_missing "$lack, and no room for one in $b: it takes twice $((size / 1024)) KB"
    }
    a=0
    for x in $files; do
      mkdir -p "$(dirname "$k/${x%:*}")" && tail -c "+$((a + 1))" "$k/all" | head -c "${x##*:}" >"$k/${x%:*}"
      [ "$(wc -c <"$k/${x%:*}")" -eq "${x##*:}" ] || {
        rm -rf "$k"
        fail tmux_missing "$lack, and no room for one in $b: it takes twice $((size / 1024)) KB"
      }
      a=$((a + ${x##*:}))
    done
    rm -f "$k/all"
    printf '%s\n' '#!/bin/sh' "LOCPATH='$h/locale' TERMINFO_DIRS=\"\${TERMINFO_DIRS-}:$h/terminfo\"" \
      'export LOCPATH TERMINFO_DIRS' "exec '$h/$loader' --library-path '$h' '$h/tmux.bin' \"\$@\"" >"$k/tmux"
    chmod 700 "$k/tmux" "$k/$loader" "$k/tmux.bin"
    # Another connection may have been quicker.
    mv "$k" "$h" 2>/dev/null && [ ! -d "$h/tmux-$digest.$$" ] || rm -rf "$k" "$h/tmux-$digest.$$"
  fi
  tmux=$h/tmux
  x=$("$tmux" -V 2>&1) || case $x in
  *ermission\ denied*) fail tmux_missing "$lack, and $b is mounted noexec: one that is brought cannot run" ;;
  *) fail tmux_missing "$lack, and the one that was brought does not run: $x" ;;
  esac
}
# What tmux says that it is: v. Whether it is new enough.
serves() {
  v=$("$tmux" -V 2>&1)
  for l in C.UTF-8 en_US.UTF-8; do
    case $v in *UTF-8\ locale*|*LC_CTYPE*) LC_ALL=$l; export LC_ALL; v=$("$tmux" -V 2>&1) ;; esac
  done
  case $v in *UTF-8\ locale*|*LC_CTYPE*) fail locale "$v" ;; esac
  v=${v#tmux }
  case ${v#next-} in [0-2].*|3.[0-2]|3.[0-2][!0-9]*) return 1 ;; esac
}
lack="no tmux in $PATH"
if ! [ "$tmux" ] || { ! serves && lack="tmux $v is too old"; }; then
  bring
  serves
fi
d=$b/$name
q=/dev/shm/muxwire-remote-$u
# Again, since another one that ends removes the first of them when it is empty.
for n in 1 2 3 4 5; do
  [ -d "$b" ] || e=$(mkdir "$b" 2>&1)
  [ ! -d "$b" ] || [ -d "$d" ] || e=$(mkdir "$d" 2>&1)
  f=
  for k in "$d" "$b"; do
    [ ! -h "$k" ] && own "$k" || f=$k
  done
  [ "$f" ] || break
done
if [ "$f" ]; then
  [ -d "$f" ] && e="$f is a link, or not yours alone"
  fail directory "$e"
fi
# What shells read at every command: a file on a disk takes 0.5 ms.
in_memory() { { [ ! -h "$q" ] && own "$q" && [ -d "$q/$name" ]; } || q=$b; }
t() { "$tmux" -u -S "$d/s" "$@"; }
# Nothing of a server that did not start stays.
undone() {
  rm -rf "$d" "$q/$name"
  rmdir "$q" "$b" 2>/dev/null
  fail "$@"
}
# Whether the server that ran before is there still; the helper has noted its process, and when that began.
lives() {
  read -r p k <"$d/server" && kill -0 "$p" || return
  [ "$k" ] || return 0
  read -r x <"/proc/$p/stat" && set -- ${x##*") "} && [ "${20}" = "$k" ] && [ "$1" != Z ]
}
# One that does not answer has lost its socket, which it makes anew on SIGUSR1 (tmux(1)), or no process can be started.
if [ "$again" ] && ! t has-session -t =hub 2>/dev/null; then
  in_memory
  [ -r "$d/server" ] || cp "$q/$name/server" "$d/server" 2>/dev/null
  for n in 1 2 3 4; do
    if lives 2>/dev/null; then kill -USR1 "$p"; elif [ -r "$d/server" ] || [ -r "$d.ended" ]; then break; fi
    sleep 1
    t has-session -t =hub 2>/dev/null && break
  done
  if ! e=$(t has-session -t =hub 2>&1); then
    lives 2>/dev/null && fail shell "its tmux server runs and does not answer: $e"
    # The helper says why as soon as it has seen that.
    for n in 1 2 3; do
      [ -r "$d.ended" ] || sleep 1
    done
    [ -r "$d.ended" ] && read -r e <"$d.ended" && rm -f "$d.ended" || e="the tmux server there has ended"
    rmdir "$d" "$b" 2>/dev/null
    fail gone "$e"
  fi
elif ! t has-session -t =hub 2>/dev/null; then
  mkdir "$q" "$q/$name" 2>/dev/null
  in_memory
  mkdir "$q/$name/shells" 2>/dev/null
  put_files && printf '%s\n' "$tmux" >"$d/program" || undone directory "cannot write in $d"
  e=$(set_environment; cd "$d" && t -f "$d/tmux.conf" new-session -d -s hub -x "$columns" -y "$rows" -n muxwire-keeper -- \
    sh "$d/helper" "$d" "$keep" "$q/$name" </dev/null 2>&1) || {
    case $e in *"File name too long"*) undone directory "the path of the socket, $d/s, is too long" ;; esac
    undone shell "tmux did not start: $e"
  }
  new=1
  # It is for the tmux that was brought, and not for what runs in it.
  case $tmux in "$b"/*) t set-environment -gu LOCPATH ;; esac
fi
in_memory
# Why servers ended whose drivers are gone too: nobody has read it for a week. A machine without find keeps it.
find "$b"/*.ended -mtime +6 -exec rm -f {} + 2>/dev/null
# What an earlier client has sent is done or dropped once it is gone: then it can be said which.
while p=$(t list-clients -F '#{?client_control_mode,#{client_pid},}') && [ "$p" ]; do
  kill -9 $p
done 2>/dev/null
for s in "${SHELL-}" "$(command -v bash)" /bin/sh; do
  [ -x "$s" ] || continue
  file_of "$s"
  case " $shells " in *" ${s##*/} "*|*" ${f##*/} "*) break ;; esac
done
[ -r /proc/self/wchan ] && p=1 || p=0
mkfifo "$d/in$$" || fail directory "cannot make a FIFO in $d"
# Without a reader of this line no muxwire will use the new server: the helper is told to end it (`end_all`).
trap '[ ! "$new" ] || t set-buffer -b muxwire-ask -- "0 q
" \; paste-buffer -r -d -b muxwire-ask -t =hub:muxwire-keeper; exit 1' PIPE
printf 'muxwire:%s\tok\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
  "$id" "$d" "$q" "$s" "$f" "${HOME:-/}" "$start" "$m" "$p" "$v"
trap - PIPE
# What stands between the carrier and tmux: tmux does not notice an end of input while its output is stuck, and then
# every pane stands still. Descriptor 4 keeps its input open until the server knows that the client has ended: if the
# input ends before, the server may end too (B14). A hang-up ends the carrier, and with it the input here.
# It is started without t: for a function in the background a sh starts a subshell, and $! would be the subshell's.
trap '' HUP
exec 3<&0
"$tmux" -u -S "$d/s" -C attach-session -f ignore-size -t =hub <"$d/in$$" 3<&- &
c=$!
{ exec 4>"$d/in$$"; cat <&3 >&4; trap '' TERM; kill -9 "$c"; t display-message -p; } >/dev/null 2>&1 &
g=$!
exec >/dev/null 3<&-
wait "$c"
rm -f "$d/in$$"
kill "$g" 2>/dev/null
exit 0
