kubectl create -o jsonpath='{.spec.key}' -f - >disable-on-reuse.key <<'EOF'
apiVersion: management.platform/v1
kind: OwnedAccessKey
metadata:
  name: disable-on-reuse
spec:
  displayName: disables keys whose old value is used
  groups: ["system:masters"]
EOF
aws secretsmanager create-secret --name keyplane/$STAGE/disable-on-reuse --secret-string file://disable-on-reuse.key
rm disable-on-reuse.key
