# For a tap. `brew install --HEAD muxwire` installs what is on the main branch; a release adds its url and its sha256.
class Muxwire < Formula
  desc "Terminals that agents and people can trust, over one tmux connection"
  homepage "https://github.com/muxwire/muxwire"
  license "MIT"
  head "https://github.com/muxwire/muxwire.git", branch: "main"

  depends_on :linux # it reads /proc
  depends_on "python@3.13"
  depends_on "tmux"

  def install
    # pip takes the wheels that pyproject.toml allows: pydantic's core would need Rust to be built.
    system formula_python, "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--no-cache-dir", buildpath
    bin.install_symlink libexec/"bin/muxwire"
    generate_completions_from_executable(bin/"muxwire", "completion")
  end

  def formula_python
    Formula["python@3.13"].opt_bin/"python3.13"
  end

  test do
    assert_equal "42\n", shell_output("#{bin}/muxwire run 'echo $((6*7))'")
    system bin/"muxwire", "kill", "--all", "--force"
  end
end
