umask 077
aws sts get-web-identity-token --audience "$KEYPLANE" --signing-algorithm RS256 --duration-seconds 60 \
  --query WebIdentityToken --output text |
  curl -sS --fail-with-body -o west.kubeconfig -H 'Accept: application/yaml;as=KubeConfig' "$KEYPLANE/oauth2/token" \
    -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \
    -d subject_token_type=urn:ietf:params:oauth:token-type:jwt \
    -d "client_id=$CREDENTIAL" -d audience=clusters/west --data-urlencode subject_token@- || { cat west.kubeconfig >&2; exit 1; }
trap 'sed -n "s/^ *token: //p" west.kubeconfig | curl -sS "$KEYPLANE/oauth2/revoke" --data-urlencode token@-' EXIT
kubectl --kubeconfig west.kubeconfig get pods
