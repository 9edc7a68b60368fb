/** Says how clients reach a Kubernetes API that they cannot reach directly, as kube configs have it. */

export interface Network {
  proxyURL?: string
  tlsServerName?: string
}

const HOST = /^(?:https?|socks5):\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]{0,4})?\/?$/

/** Reports whether a text is the URL of a proxy that clients accept: without a user, whose password everybody could read who may see it. */
export const isProxyUrl = (text: string): boolean => {
  const [, host] = HOST.exec(text) ?? []
  return host !== undefined && !/^[.-]|[.-]$/.test(host) && URL.canParse(text)
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/

/** Reports whether a text is a name that certificates have: no address of IP, which TLS has no field for. */
export const isTlsServerName = (text: string): boolean =>
  text.length <= 253 && NAME.test(text) && !/^[\d.]+$/.test(text)

/** Returns the members of a cluster in a kube config. Empty texts are absent. */
export const networkMembers = ({ proxyURL, tlsServerName }: Network): Record<string, string> => ({
  ...(proxyURL && { 'proxy-url': proxyURL }),
  ...(tlsServerName && { 'tls-server-name': tlsServerName }),
})
