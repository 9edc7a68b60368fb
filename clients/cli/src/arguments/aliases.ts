/** Reads the commands of people who are used to other programs: `ls`, `rm`, `get keys`, `keys rotate`. */

/** The verbs that mean another one. `get` lists, or shows what it is given. */
const VERBS: Readonly<Record<string, string>> = {
  ls: 'list',
  rm: 'delete',
  remove: 'delete',
  describe: 'show',
  get: 'get',
  list: 'list',
  show: 'show',
  delete: 'delete',
}

/** The groups of commands, by the words that mean them. */
const GROUPS: Readonly<Record<string, string>> = {
  key: 'keys',
  keys: 'keys',
  cluster: 'clusters',
  clusters: 'clusters',
  trust: 'trusts',
  trusts: 'trusts',
  provider: 'providers',
  providers: 'providers',
  vc: 'virtual-clusters',
  'virtual-cluster': 'virtual-clusters',
  'virtual-clusters': 'virtual-clusters',
  virtualclusters: 'virtual-clusters',
}

/** Commands about keys that stand alone. */
const ALONE = ['rotate', 'usage', 'advise', 'history', 'explain', 'revoke']

/** Returns the arguments in which the command has its own name. Others stay as they are. */
export function canonical(args: readonly string[]): readonly string[] {
  const [first = '', second = '', ...rest] = args
  const [verb, group] = [own(VERBS, first), own(GROUPS, first)]
  if (first === 'version' && args.length === 1) return ['--version']
  if (first === 'context') return canonical(second === '' ? ['contexts'] : args)
  if (first === 'contexts' && ['list', 'ls'].includes(second)) return ['contexts', ...rest]
  if (first === 'contexts' && second === 'use') return ['use', ...rest]
  if (group === 'keys' && ALONE.includes(second)) return [second, ...rest]
  if (group !== undefined) return [group, ...(second === '' ? [] : [verbFor(group, second, rest)]), ...rest]
  if (verb === undefined) return args
  const after = own(GROUPS, second)
  if (after !== undefined) return [after, verbFor(after, first, rest), ...rest]
  return verb === 'list' && (second === '' || second.startsWith('-')) ? ['keys', 'list', ...args.slice(1)] : args
}

const verbFor = (group: string, word: string, rest: readonly string[]): string => {
  const verb = own(VERBS, word)
  if (group === 'clusters' && verb === 'delete') return 'disconnect'
  if (verb !== 'get') return verb ?? word
  return rest[0] === undefined || rest[0].startsWith('-') ? 'list' : 'show'
}

const own = (table: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined
