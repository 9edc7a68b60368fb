/** Names the variables of an environment that give a program a credential: of this API, of a cluster, or the ID token of a job. */
import { withoutCredentials } from '../../../lib/engine/meta/value/credentialtext.ts'

/** Reports whether the programs of this project, or the clients of Kubernetes, find a credential by the variable. */
export const isKeyVariable = (name: string): boolean =>
  // With the address of its cluster, a client in a pod becomes the service account of the pod.
  /^(KEYPLANE_.*|KUBECONFIG|KUBERNETES_SERVICE_HOST)$/.test(name) && name !== 'KEYPLANE_ID_TOKEN'

/** Variables from which the clients of clusters take an address or a credential, besides those above. */
interface ClientVariables {
  /** Where they are documented or read. */
  source: string
  names: RegExp
}

/** By prefix where a client has one, so that a variable that it adds later is found as well. */
const CLIENT_VARIABLES: readonly ClientVariables[] = [
  // Whose name says so, such as TF_VAR_kubeconfig, KUBECONFIG_BASE64, SKAFFOLD_KUBECONFIG and KAPP_KUBECONFIG_YAML.
  { source: 'the name', names: /KUBE_?CONFIG/ },
  // KUBERNETES_MASTER, KUBERNETES_SERVICE_*; of fabric8 KUBERNETES_AUTH_*, KUBERNETES_CERTS_* and others.
  { source: 'k8s.io/client-go, io.fabric8.kubernetes.client.Config', names: /^KUBERNETES_(?!NAMESPACE$)/ },
  // KUBE_HOST, KUBE_TOKEN, KUBE_CTX, KUBE_CLIENT_KEY_DATA; the same names in the backend and in other providers.
  {
    source: 'Terraform: providers kubernetes, helm and kubectl, backend kubernetes',
    names: /^KUBE_(?!EDITOR$|NAMESPACE$|FEATURE_)/,
  },
  { source: 'Ansible: kubernetes.core, option fragment k8s_auth_options', names: /^K8S_AUTH_/ },
  { source: 'Helm: pkg/cli/environment.go', names: /^HELM_KUBE/ },
  { source: 'Skaffold: a variable for each flag', names: /^SKAFFOLD_KUBE/ },
  { source: 'werf: a variable for each flag', names: /^WERF_KUBE/ },
  { source: 'pykube-ng: KubeConfig.from_service_account', names: /^PYKUBE_/ },
]

/** Reports whether the variable names a kube config, or several. Where it is missing, some programs use ~/.kube/config. */
export const namesKubeConfig = (name: string): boolean => /KUBE_?CONFIG(_(PATH|FILE)S?)?$/.test(name.toUpperCase())

/** From which a job gets its ID token, which may be exchanged for a key: docs/federation.md. */
const ID_TOKEN_VARIABLES: readonly string[] = [
  // GitHub Actions, Forgejo and Gitea.
  'ACTIONS_ID_TOKEN_REQUEST_URL',
  'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
  'ACTIONS_RUNTIME_TOKEN',
  // GitLab: jobs choose the names of their ID tokens. The first is that of the component.
  'KEYPLANE_ID_TOKEN',
  'CI_JOB_JWT',
  'CI_JOB_JWT_V2',
  // Of this command line.
  'KEYPLANE_ID_TOKEN_FILE',
  // Azure DevOps, Bitbucket, Buildkite, CircleCI, HCP Terraform, Semaphore, Spacelift.
  'SYSTEM_ACCESSTOKEN',
  'SYSTEM_OIDCREQUESTURI',
  'BITBUCKET_STEP_OIDC_TOKEN',
  'BUILDKITE_AGENT_ACCESS_TOKEN',
  'CIRCLE_OIDC_TOKEN',
  'CIRCLE_OIDC_TOKEN_V2',
  'TFC_WORKLOAD_IDENTITY_TOKEN',
  'SEMAPHORE_OIDC_TOKEN',
  'SPACELIFT_OIDC_TOKEN',
  // Pods of EKS and AKS, and the files of others.
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
]

/** Reports whether the variable gives a job its ID token: by its name, or because its value is a token of an issuer. */
export const givesIdToken = (name: string, value: string): boolean =>
  ID_TOKEN_VARIABLES.includes(name) || /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value.trim())

/** Reports whether the variable gives a credential: by its name, or because its value contains a key or a token. */
export function givesCredential(name: string, value: string): boolean {
  // Names on Windows have no case.
  const known = name.toUpperCase()
  const isOfClient = CLIENT_VARIABLES.some(({ names }) => names.test(known))
  return isKeyVariable(known) || isOfClient || givesIdToken(known, value) || withoutCredentials(value) !== value
}
