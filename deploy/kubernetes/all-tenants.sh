#!/bin/sh
# Prints the manifests of many tenants: a Secret, a volume and a CronJob for each file <name>.json of a folder. No pod can
# read the secrets of another tenant, and a tenant that fails does not stop the others.
#
#   sh deploy/kubernetes/all-tenants.sh tenants/ | kubectl apply --filename -
set -eu
minute=0
for file in "$1"/*.json; do
  tenant=$(basename "$file" .json)
  if ! printf '%s\n' "$tenant" | grep -Eqx '[a-z0-9]([a-z0-9-]*[a-z0-9])?'; then
    echo "$file: the name must have lower-case letters, digits and hyphens." >&2
    exit 2
  fi
  cat <<END
---
apiVersion: v1
kind: Secret
metadata:
  name: protime-$tenant
  labels: { app.kubernetes.io/name: protime-sync, protime/tenant: $tenant }
data:
  config.json: $(base64 <"$file" | tr -d '\n')
---
END
  # Everything of the example but its Secret; not all at the same time.
  sed -e '1,/^---$/d' -e "s/acme/$tenant/g" -e "s/\"17 2 /\"$minute 2 /" "$(dirname "$0")/tenant.yaml"
  minute=$(((minute + 7) % 60))
done
