/** Defines the fields that kinds of clusters share which say how clients reach them. */
import { string } from '../engine/meta/schema/schema.ts'

export const network = {
  proxyURL: string(
    'URL of the proxy through which clients reach the server: https, http or socks5, without a user. Written to kubeconfigs as proxy-url. This service uses no proxy.',
    { maxLength: 2048 },
  ),
  tlsServerName: string(
    'Name in the certificate of the server, if it differs from the host of its address. Written to kubeconfigs as tls-server-name.',
    { maxLength: 253 },
  ),
}
