/**
 * Formats the text that the local server prints when it is ready. Its commands can be pasted into any shell: nothing is
 * indented, and there are no comments, which an interactive zsh would run as commands.
 */
import { DEMO } from './virtualcluster/demo.ts'

export interface BannerFacts {
  /** URL with the base path. */
  url: string
  /** URL of the console. */
  console: string
  /** Absolute paths. */
  files: { ca: string; accessKey: string; kubeconfig: string; jobEnvironment: string }
  /** Path of the demo's kube config, which the printed commands write. */
  demoKubeconfig: string
  /** Sentence about the data after the server stops. */
  keeps: string
}

/** Returns the text, which starts and ends with a newline. */
export function banner({ url, console, files, demoKubeconfig, keeps }: BannerFacts): string {
  const api = `${url}/apis/management.platform/v1`
  // The key goes through a pipe: other users of the machine see arguments.
  const curl = `curl -sS --cacert ${quoteForShell(files.ca)} -H @-`
  const admin = `printf 'Authorization: Bearer %s' "$(cat ${quoteForShell(files.accessKey)})" | ${curl} -H 'Content-Type: application/json'`
  const instance = `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances/${DEMO.name}`
  return `
keyplane serves ${url}
${keeps}

The console is at ${console}
Sign in with the key in ${files.accessKey}

The command line logs in from this folder with:

npx keyplane login ${url} --ca ${quoteForShell(files.ca)} --key-file ${quoteForShell(files.accessKey)}

Run the commands below in another terminal. They show who you are with the first access key; create a key for a CI job of ${DEMO.owner}
that is valid for one day and for the project ${DEMO.project}; use it to fetch a kube config of the demo virtual cluster (in status.kubeConfig);
and, as the administrator, fetch one with a client certificate and list pods with it. The last lines exchange the ID token of a job,
which the demo issuer signs, for an access key of 15 minutes. docs/tour.md has a tour of five minutes.

${admin} -d '{}' ${api}/selves

export KUBECONFIG=${quoteForShell(files.kubeconfig)}
KEY=$(kubectl create -o jsonpath='{.spec.key}' -f - <<'EOF'
{"apiVersion": "management.platform/v1", "kind": "OwnedAccessKey", "metadata": {"generateName": "ci-"},
 "spec": {"user": "${DEMO.owner}", "ttl": 86400, "scope": {"projects": [{"project": "demo"}]}}}
EOF
)
kubectl get ownedaccesskeys

printf 'Authorization: Bearer %s' "$KEY" | ${curl} -H "Content-Type: application/yaml" ${instance}/kubeconfig --data-binary '
apiVersion: management.platform/v1
kind: VirtualClusterInstanceKubeConfig
metadata:
  namespace: ${DEMO.namespace}
spec: {}
'

${admin} -d '{"spec": {"clientCert": true, "certificateTTL": 3600}}' ${instance}/kubeconfig |
  node -e 'fs.writeFileSync(process.argv[1], JSON.parse(fs.readFileSync(0)).status.kubeConfig, { mode: 0o600 })' ${quoteForShell(demoKubeconfig)}
kubectl --kubeconfig ${quoteForShell(demoKubeconfig)} get pods

. ${quoteForShell(files.jobEnvironment)}
ID_TOKEN=$(printf 'Authorization: Bearer %s' "$ACTIONS_ID_TOKEN_REQUEST_TOKEN" | ${curl} "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$KEYPLANE" | sed -n 's/.*"value":"\\([^"]*\\)".*/\\1/p')
printf %s "$ID_TOKEN" | curl -sS --cacert ${quoteForShell(files.ca)} -H 'Accept: text/plain' -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange -d subject_token_type=urn:ietf:params:oauth:token-type:jwt -d "client_id=$CREDENTIAL" --data-urlencode subject_token@- "$KEYPLANE/oauth2/token"

Press Ctrl-C to stop.
`
}

/** Quotes a word for a POSIX shell. */
export const quoteForShell = (text: string): string =>
  /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
