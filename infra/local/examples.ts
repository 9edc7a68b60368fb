/**
 * Writes the commands that `npm start -- --examples` prints. They can be pasted into the shell that is there: nothing is indented, and
 * there are no comments, which an interactive zsh would run as commands.
 */
import { posixWord, type Shell, shellWords } from '../../clients/core/src/shellwords.ts'
import { DEMO } from './virtualcluster/demo.ts'

export interface ExampleFacts {
  /** URL with the base path. */
  url: string
  /** Absolute paths. */
  files: { ca: string; accessKey: string; kubeconfig: string; jobEnvironment: string }
  /** Path of the demo's kube config, which the commands write. */
  demoKubeconfig: string
  /** The shell that the commands are for. */
  shell: Shell
}

/** Returns the text, which starts and ends with a newline. */
export const examples = (facts: ExampleFacts): string =>
  `\n${facts.shell === 'posix' ? commands(facts) : commandsOfWindows(facts)}`

/** Needs kubectl and curl, as the clients of others do. */
function commands({ url, files, demoKubeconfig }: ExampleFacts): string {
  const api = `${url}/apis/management.platform/v1`
  // The key goes through a pipe: other users of the machine see arguments.
  const curl = `curl -sS --cacert ${posixWord(files.ca)} -H @-`
  const admin = `printf 'Authorization: Bearer %s' "$(cat ${posixWord(files.accessKey)})" | ${curl} -H 'Content-Type: application/json'`
  const instance = `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances/${DEMO.name}`
  return `Run the commands below in another terminal. They show who you are with the first access key; create a key for a CI job of ${DEMO.owner}
that is valid for one day and for the project ${DEMO.project}; use it to fetch a kube config of the demo virtual cluster (in status.kubeConfig);
and, as the administrator, fetch one with a client certificate and list pods with it. The last lines exchange the ID token of a job,
which the demo issuer signs, for an access key of 15 minutes. docs/tour.md has a tour of five minutes.

${admin} -d '{}' ${api}/selves

export KUBECONFIG=${posixWord(files.kubeconfig)}
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
  node -e 'fs.writeFileSync(process.argv[1], JSON.parse(fs.readFileSync(0)).status.kubeConfig, { mode: 0o600 })' ${posixWord(demoKubeconfig)}
kubectl --kubeconfig ${posixWord(demoKubeconfig)} get pods

. ${posixWord(files.jobEnvironment)}
ID_TOKEN=$(printf 'Authorization: Bearer %s' "$ACTIONS_ID_TOKEN_REQUEST_TOKEN" | ${curl} "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$KEYPLANE" | sed -n 's/.*"value":"\\([^"]*\\)".*/\\1/p')
printf %s "$ID_TOKEN" | curl -sS --cacert ${posixWord(files.ca)} -H 'Accept: text/plain' -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange -d subject_token_type=urn:ietf:params:oauth:token-type:jwt -d "client_id=$CREDENTIAL" --data-urlencode subject_token@- "$KEYPLANE/oauth2/token"
`
}

/** Both shells of Windows lack what the commands above are made of, so the command line does the same. */
function commandsOfWindows({ demoKubeconfig, shell }: ExampleFacts): string {
  const keyplane = (...words: string[]) => shellWords(['npx', 'keyplane', ...words], shell)
  return `Log in first. Then run the commands below in another terminal, in this folder. They show who you are; create a key for a CI job of ${DEMO.owner} that is
valid for one day and for the project ${DEMO.project}; write a kube config of the demo virtual cluster; and list pods with it. docs/tour.md has
a tour for PowerShell.

${keyplane('whoami')}
${keyplane('keys', 'create', '--user', DEMO.owner, '--ttl', '1d', '--project', DEMO.project)}
${keyplane('kubeconfig', `${DEMO.project}/${DEMO.name}`, '--with', 'token', '--output', demoKubeconfig)}
${shellWords(['kubectl', '--kubeconfig', demoKubeconfig, 'get', 'pods'], shell)}
`
}
