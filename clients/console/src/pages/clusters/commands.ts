/** Has what an administrator runs so that others get kube configs. */

/** Creates the object of a connected cluster, as in docs/clusters.md. */
export const CONNECT = `CLUSTER=$HOME/.kube/eu.kubeconfig
cluster() { kubectl --kubeconfig "$CLUSTER" config view --minify --raw --flatten -o jsonpath="{.clusters[0].cluster.$1}"; }
kubectl apply --server-side -f - <<EOF
apiVersion: management.platform/v1
kind: Cluster
metadata:
  name: eu
spec:
  displayName: Europe
  server: $(cluster server)
  certificateAuthorityData: $(cluster certificate-authority-data)
  access:
    - verbs: [get, list, watch, use]
      teams: [shop]
EOF
`

/** Registers a virtual cluster, as in the tutorial docs/first-virtual-cluster.md. */
export const REGISTER = `VIRTUAL=$HOME/.kube/dev.kubeconfig
cluster() { kubectl --kubeconfig "$VIRTUAL" config view --minify --raw --flatten -o jsonpath="{.clusters[0].cluster.$1}"; }
SERVER=$(cluster server)
CA=$(cluster certificate-authority-data)
kubectl apply -f - <<MANIFEST
apiVersion: management.platform/v1
kind: VirtualClusterInstance
metadata:
  name: dev
  namespace: p-shop
spec:
  displayName: Development of the shop
  owner:
    user: alice
  access:
    - verbs: [get, list, watch, use]
      teams: [shop]
  accessPoint:
    ingress:
      enabled: true
      host: "\${SERVER#https://}"
  certificateAuthorityData: "$CA"
MANIFEST
`
