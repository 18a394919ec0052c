# Sourced by the checks against other people's programs.

# recent_python prints a Python of version 3.12 or later, which XGBoost needs: PYTHON, if it is set.
recent_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "found no Python of version 3.12 or later, which XGBoost needs, expected one (PYTHON=… names it)" >&2
  return 1
}

# environment PYTHON DIR REQUIREMENTS keeps a Python environment with the requirements in DIR/venv,
# and makes it anew when they change.
environment() {
  local python=$1 dir=$2 requirements=$3
  if ! cmp -s "$requirements" "$dir/venv/requirements.txt"; then
    rm -rf "$dir/venv"
    "$python" -m venv "$dir/venv"
    "$dir/venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$dir/venv/requirements.txt"
  fi
}
