/** The token of an Authorization header. Source: RFC 6750 section 2.1, k8s.io/apiserver bearertoken. */

/**
 * The token of the only Authorization header; undefined when there is none, more than one (which one would count?), or another
 * scheme. The scheme is case-insensitive; nothing is said of the token's own form.
 */
export function bearerToken(values: readonly string[] | undefined): string | undefined {
  if (values?.length !== 1) return undefined
  return /^bearer +(\S+)$/i.exec(values[0]?.trim() ?? '')?.[1]
}
