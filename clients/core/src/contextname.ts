/** The path of the API below its stage or domain. */
export const BASE_PATH = '/kubernetes/management'

/** Returns the name of a context for a server: its host, and its stage if it has one. */
export function contextName(server: string): string {
  const { host, pathname } = new URL(server)
  return host + (pathname.endsWith(BASE_PATH) ? pathname.slice(0, -BASE_PATH.length) : pathname.replace(/\/$/, ''))
}
