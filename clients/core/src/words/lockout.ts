/** Reads the Warning of a change after which clusters refuse all users of keyplane (lib/access/users/lockout.ts). */

export interface Lockout {
  text: string
  /** The clusters that the scopes name. Others may ask too. */
  clusters: readonly string[]
}

/** Returns the first of these warnings that says so. */
export function lockoutIn(warnings: readonly string[]): Lockout | undefined {
  for (const text of warnings) {
    const [found, named] = /refuses all users of keyplane(?: from then on)?(?:: (.+))?$/.exec(text) ?? []
    if (found === undefined) continue
    return { text, clusters: (named?.split(', ') ?? []).filter((one) => !/^\d+ more$/.test(one)) }
  }
  return undefined
}
