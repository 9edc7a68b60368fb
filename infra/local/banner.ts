/**
 * What the local server prints when it is ready. Its lines work when they are pasted, into an interactive zsh too: nothing is
 * indented, and nothing is explained between them, since zsh takes comments for commands.
 */
import { DEMO } from './virtualcluster/demo.ts'

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

The lines below work in another terminal. They show who you are with the first access key; make a key for a CI job of ${DEMO.owner},
which opens the project ${DEMO.project} for a day; fetch a kube config of the demo virtual cluster with it (it is in status.kubeConfig);
and fetch one with a client certificate, as the administrator, to list pods with. README.md has a tour of five minutes.

${curl} -d '{}' ${api}/selves

export KUBECONFIG=${quote(files.kubeconfig)}
KEY=$(kubectl create -o jsonpath='{.spec.key}' -f - <<'EOF'
{"apiVersion": "management.platform/v1", "kind": "OwnedAccessKey", "metadata": {"generateName": "ci-"},
 "spec": {"user": "${DEMO.owner}", "ttl": 86400, "scope": {"projects": [{"project": "demo"}]}}}
EOF
)
kubectl get ownedaccesskeys

curl -sS --cacert ${quote(files.ca)} -H "Authorization: Bearer $KEY" -H "Content-Type: application/yaml" --data-binary @- ${instance}/kubeconfig <<'EOF'
apiVersion: management.platform/v1
kind: VirtualClusterInstanceKubeConfig
metadata:
  namespace: ${DEMO.namespace}
spec: {}
EOF

${curl} -d '{"spec": {"clientCert": true, "certificateTTL": 3600}}' ${instance}/kubeconfig |
  node -e 'fs.writeFileSync(process.argv[1], JSON.parse(fs.readFileSync(0)).status.kubeConfig, { mode: 0o600 })' ${quote(demoKubeconfig)}
kubectl --kubeconfig ${quote(demoKubeconfig)} get pods

Ctrl-C ends it.
`
}

/** For a POSIX shell. */
export const quote = (text: string): string => (/^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
