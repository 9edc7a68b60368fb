/** What the local server prints when it is ready: lines that work when they are copied, hence nothing is indented. */
import { DEMO } from './demo.ts'

export interface BannerFacts {
  /** With the base path. */
  url: string
  /** Absolute paths. */
  files: { ca: string; accessKey: string; kubeconfig: string }
  /** Of the demo's kube config, which the printed lines make. */
  demoKubeconfig: string
  /** What happens to the data at the end. */
  keeps: string
}

/** Begins and ends with a line end. */
export function banner({ url, files, demoKubeconfig, keeps }: BannerFacts): string {
  const api = `${url}/apis/management.platform/v1`
  const curl = `curl -sS --cacert ${quote(files.ca)} -H "Authorization: Bearer $(cat ${quote(files.accessKey)})" -H 'Content-Type: application/json'`
  const instance = `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances/${DEMO.name}`
  return `
keyplane serves ${url}
${keeps}

Try next, in another terminal:

# Who am I? The first access key, of group system:masters
${curl} -d '{}' ${api}/selves

# A key for a CI job of ${DEMO.owner}, confined to the project demo, for a day
export KUBECONFIG=${quote(files.kubeconfig)}
KEY=$(kubectl create -o jsonpath='{.spec.key}' -f - <<'EOF'
{"apiVersion": "management.platform/v1", "kind": "OwnedAccessKey", "metadata": {"generateName": "ci-"},
 "spec": {"user": "${DEMO.owner}", "ttl": 86400, "scope": {"projects": [{"project": "demo"}]}}}
EOF
)
kubectl get ownedaccesskeys

# With it, a kube config of the demo virtual cluster (the answer has it in status.kubeConfig)
cat > kubeconfig.yaml <<'EOF'
apiVersion: management.platform/v1
kind: VirtualClusterInstanceKubeConfig
metadata:
  namespace: ${DEMO.namespace}
spec: {}
EOF
curl -sS --cacert ${quote(files.ca)} -H "Authorization: Bearer $KEY" -H "Content-Type: application/yaml" --data-binary @kubeconfig.yaml ${instance}/kubeconfig

# The same with a client certificate for an hour, as the administrator, and used
${curl} -d '{"spec": {"clientCert": true, "certificateTTL": 3600}}' ${instance}/kubeconfig | node -p 'JSON.parse(fs.readFileSync(0)).status.kubeConfig' > ${quote(demoKubeconfig)}
kubectl --kubeconfig ${quote(demoKubeconfig)} get pods

Ctrl-C ends it.
`
}

/** For a POSIX shell. */
export const quote = (text: string): string => (/^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
