#!/bin/sh
# Starts a command with the runtime and the packages of this folder, which need no network: ./hindcast serve
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# The launcher runs in the project's folder, and users mean their own.
INIT_CWD=$PWD
DATA_DIR=${DATA_DIR:-.data}
case $DATA_DIR in /*) ;; *) DATA_DIR=$PWD/$DATA_DIR ;; esac
DENO_DIR=$here/cache
DENO_NO_UPDATE_CHECK=1
PATH=$here:$PATH
export DATA_DIR DENO_DIR DENO_NO_UPDATE_CHECK INIT_CWD PATH
cd "$here/project"
exec deno run --no-config --no-prompt --allow-env --allow-read=server/variables.txt --allow-run cli/launch.ts hindcast "$@"
