mkdir -p ~/.kube
(umask 077 && cat > ~/.kube/demo.curl) <<EOF
url = "$KEYPLANE/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo/kubeconfig"
header = "Authorization: Bearer $KEY"
header = "Content-Type: application/json"
header = "Accept: application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1"
data = "{\"spec\": {\"certificateTTL\": 900}}"
silent
show-error
fail
max-time = 30
write-out = "%{onerror}%{stderr}%header{warning}\n"
EOF
CONFIG=$(printf 'Authorization: Bearer %s' "$KEY" | curl -q -sS --fail --proto '=https' -H @- \
  -H 'Accept: application/yaml' -H 'Content-Type: application/yaml' --data-binary \
  "spec: {exec: {command: curl, args: [-q, --proto, =https, --config, '$HOME/.kube/demo.curl']}}" \
  "$KEYPLANE/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo/kubeconfig") &&
  printf '%s\n' "$CONFIG" | sed '1,/^  kubeConfig: |/d; /^    /!d; s/^    //' > ~/.kube/demo
kubectl --kubeconfig ~/.kube/demo get pods
