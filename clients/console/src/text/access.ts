/** Says whom the access rules of an object name, and who owns it. */
export interface AccessRule {
  verbs?: readonly string[]
  subresources?: readonly string[]
  users?: readonly string[]
  teams?: readonly string[]
}

/** Returns `team shop` and `user alice` for each name, once. */
export const namedIn = (rules: readonly AccessRule[]): string[] => [
  ...new Set(
    rules.flatMap(({ users = [], teams = [] }) => [
      ...teams.map((team) => `team ${team}`),
      ...users.map((user) => `user ${user}`),
    ]),
  ),
]

/** Returns `alice`, `team shop` or `subject backup` for the owner of a trust or a key. */
export const ownerInWords = (owner = ''): string => owner.replace(/^(team|subject):/, '$1 ')
