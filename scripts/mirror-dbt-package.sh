#!/usr/bin/env bash
# mirror-dbt-package.sh ARCHIVE REPOSITORY TAG
# Makes the branch main of a repository hold what the archive of the dbt package holds, as one more commit, and tags it.
# dbt's hub takes packages from the root of a repository alone.
set -euo pipefail
archive=$(realpath "$1") repository=$2 tag=$3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet "$repository" "$folder"
cd "$folder"
if git rev-parse --quiet --verify "refs/tags/$tag" > /dev/null; then
  echo "The mirror has $tag."
  exit 0
fi
# The first release finds no branch.
git symbolic-ref HEAD refs/heads/main
git rm -r --quiet --ignore-unmatch .
tar -xzf "$archive" --strip-components=1
git add --all
git -c user.name="github-actions[bot]" -c user.email="41898282+github-actions[bot]@users.noreply.github.com" \
  commit --quiet --allow-empty --message "$tag"
git tag "$tag"
git push --quiet --atomic origin refs/heads/main "refs/tags/$tag"
echo "$tag was pushed to the mirror."
