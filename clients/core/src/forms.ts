/** The forms of texts that several clients check before they send them. */

/** Reports whether a text can be the name of an object, as Kubernetes defines it: a DNS subdomain. */
export const isName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part))

/** Reports whether a text can be a bearer token, such as an access key: a header carries it unchanged. */
export const isBearer = (text: unknown): text is string => typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)

/** Reports whether a text is NAME@UID of a federated identity credential, the `client_id` of an exchange. */
export const isClientId = (text: string): boolean =>
  /^[a-z0-9][-a-z0-9.]*@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** Returns the project and the name of a virtual cluster such as `shop/dev`; undefined for any other text. */
export function virtualClusterIn(text: string): { project: string; name: string } | undefined {
  const [project = '', name = '', more] = text.split('/')
  return more === undefined && isName(project) && isName(name) ? { project, name } : undefined
}
