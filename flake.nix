{
  description = "Terminals that agents and people can trust: exact output and exit codes over one tmux control-mode connection";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  # uv builds muxwire from this source, with the packages that pyproject.toml names: nixpkgs has older ones of some.
  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.writeShellApplication {
          name = "muxwire";
          runtimeInputs = [
            pkgs.tmux
            pkgs.uv
          ];
          text = ''
            exec uvx --python ${pkgs.python313}/bin/python3.13 --from ${self} muxwire "$@"
          '';
        };
      });
    };
}
