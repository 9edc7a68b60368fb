CONFIG=$(printf 'Authorization: Bearer %s' "$KEY" | curl -q -sS --fail --proto '=https' -H @- \
  -H 'Accept: application/yaml' -H 'Content-Type: application/yaml' --data-binary 'spec: {certificateTTL: 3600}' \
  "$KEYPLANE/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo/kubeconfig") &&
  (umask 077 && printf '%s\n' "$CONFIG" | sed '1,/^  kubeConfig: |/d; /^    /!d; s/^    //' > demo.kubeconfig)
kubectl --kubeconfig demo.kubeconfig get pods
