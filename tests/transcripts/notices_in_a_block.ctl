# notices_in_a_block, tmux 3.3a
> new-window -d -t hub: -P -F "#{pane_id}" "echo r''eady; exec cat"
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
< %window-renamed @1 sh
< %output %1 ready\015\012
> refresh-client -A "%1:pause" ; capture-pane -p -t "%1" ; refresh-client -A "%1:continue"
< %begin 1795258784 269 1
< %pause %1
< %end 1795258784 269 1
< %begin 1795258784 270 1
< ready
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< 
< %end 1795258784 270 1
< %begin 1795258784 271 1
< %continue %1
< %end 1795258784 271 1
> 
< %exit
= 
