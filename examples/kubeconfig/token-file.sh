cat > ~/.kube/renew <<'EOF'
#!/bin/sh
# Writes a new token to NAME.token with the request in NAME.curl. If that fails, it keeps the old token.
set -eu
umask 077
token=$(curl -q --proto =https --config "$1.curl" | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')
test -n "$token"
printf %s "$token" > "$1.token.new"
mv "$1.token.new" "$1.token"
EOF
chmod 700 ~/.kube/renew
~/.kube/renew ~/.kube/demo
user=$(kubectl --kubeconfig ~/.kube/demo config view -o jsonpath='{.users[0].name}')
kubectl --kubeconfig ~/.kube/demo config set users.demo.tokenFile ~/.kube/demo.token
kubectl --kubeconfig ~/.kube/demo config set-context --current --user demo
kubectl --kubeconfig ~/.kube/demo config delete-user "$user"
