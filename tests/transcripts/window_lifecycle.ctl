# window_lifecycle, tmux 3.3a
> new-window -d -t hub: -P -F "#{pane_id}" "exec tail -f /dev/null"
+ 0.010
< %begin 1795258784 260 0
< %end 1795258784 260 0
< %window-add @0
< %sessions-changed
< %session-changed $0 hub
< %begin 1795258784 266 1
< %1
< %end 1795258784 266 1
< %window-add @1
> list-windows -t hub -f "#{==:#{window_index},1}" -F "#{window_id}"
< %begin 1795258784 268 1
< @1
< %end 1795258784 268 1
> rename-window -t @1 "two words; \344\272\214\343\201\244"
< %begin 1795258784 269 1
< %end 1795258784 269 1
< %window-renamed @1 two words; 二つ
> split-window -d -t @1 "exec tail -f /dev/null"
+ 0.007
< %begin 1795258784 271 1
< %end 1795258784 271 1
< %layout-change @1 419a,80x24,0,0[80x12,0,0,1,80x11,0,13,2] 419a,80x24,0,0[80x12,0,0,1,80x11,0,13,2] 
> select-window -t @1
< %begin 1795258784 273 1
< %end 1795258784 273 1
< %session-window-changed $0 @1
> new-session -d -s "other one" "exec tail -f /dev/null"
< %begin 1795258784 275 1
< %end 1795258784 275 1
< %unlinked-window-add @2
< %sessions-changed
> kill-window -t @1
< %begin 1795258784 278 1
< %end 1795258784 278 1
< %session-window-changed $0 @0
< %unlinked-window-close @1
> 
< %exit
= 
