/** The exchange of an ID token for an access key, or for a token of one cluster (RFC 8693). */

export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The media type of a kube config, in which an exchange with an audience can answer. */
export const KUBE_CONFIG_TYPE = 'application/yaml;as=KubeConfig'

/** The type of the token that an exchange with an audience answers. */
export const CLUSTER_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:jwt'

/** What an exchange asks for. Without an audience that is an access key. */
export interface Asked {
  /** Narrows what is granted. */
  scope?: string | undefined
  /** The cluster for which the token is. Several need the form of a kube config. */
  audience?: string | readonly string[] | undefined
}

export const clusterAudience = (name: string): string => `clusters/${name}`
export const virtualClusterAudience = (project: string, name: string): string => `virtualclusters/${project}/${name}`

/** Returns the form of an exchange of an ID token. */
export function exchangeForm(clientID: string, idToken: string, { scope, audience = [] }: Asked = {}): string {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    client_id: clientID,
    subject_token: idToken,
    ...(scope && { scope }),
  })
  for (const one of [audience].flat()) form.append('audience', one)
  return form.toString()
}
