/** Says what a command did with its key, from the record of the server. */
import { duration } from '../../../core/src/durations.ts'
import { type KeyUsage, requestsIn } from '../../../core/src/usage.ts'
import type { Target } from '../api/target.ts'
import { placeWords } from './scope.ts'
import type { Watched } from './watch.ts'

/** What is known at the end of a command. */
export interface Ended {
  name: string
  target: Target
  /** The namespace of the project of a virtual cluster, as usage names it. */
  prefix: string
  /** How long the command ran, in seconds. */
  seconds: number
  lives?: Lives
  /** The record, or why there is none. */
  usage: KeyUsage | string
  /** What was known while the command ran. */
  watched?: Watched
}

/** When a key ends by itself that could not be ended, and why it could not. */
interface Lives {
  until: string | undefined
  why: string
}

/** Returns what became of the key. */
export const endWords = (name: string, lives: Lives | undefined): string =>
  lives
    ? `${name} could not be ended: ${lives.why} It ends by itself${lives.until === undefined ? '' : ` at ${lives.until}`}.`
    : `${name} has ended.`

/** Returns the report: the end of the key, what the command did, and what it asked for and was refused. */
export function reportText({ name, target, prefix, seconds, lives, usage: last, watched }: Ended): string {
  const end = endWords(name, lives)
  const usage = typeof last === 'string' ? watched?.usage : last
  if (usage === undefined) return `${end} What it did in ${duration(seconds)} is not known: ${last}`
  const { done, refused } = requestsIn(usage)
  const lines = [
    `${end} In ${duration(seconds)}:`,
    ...inPlaces(
      done.map(({ request }) => request),
      target,
    ),
    ...(done.length === 0 ? ['  no requests that are recorded'] : []),
    ...(refused.length === 0
      ? []
      : [
          // A cluster asks about the request of "kubectl auth can-i" as if it were sent.
          target.kind === 'management' ? 'Refused:' : 'Refused, or asked about with can-i:',
          ...inPlaces(
            refused.map(({ request }) => request),
            target,
          ),
        ]),
    ...(usage.refusedMore ? ['  and more that is not recorded'] : []),
    ...(usage.recording === false ? ['This deployment does not record usage, so this is not all.'] : []),
    ...(usage.recording !== false && usage.complete === false ? ['It did more than is recorded.'] : []),
    ...(typeof last === 'string' ? [`The last minute or more is missing: ${last}`] : []),
    ...(watched !== undefined && watched.away > 0
      ? [`keyplane could not be reached for ${duration(watched.away)} of it. What was refused meanwhile is missing.`]
      : []),
    ...(asked(target, prefix, usage)
      ? []
      : [
          `${capital(placeWords(target))} did not ask about this key: requests there, if there were any, are not known.`,
        ]),
  ]
  return lines.join('\n')
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Reports whether the cluster has asked about requests of the key, so that what it did there is known. */
function asked(target: Target, prefix: string, { clusters = [], entries = [] }: KeyUsage): boolean {
  if (target.kind === 'management') return true
  const id =
    target.kind === 'cluster' ? `clusters/${target.name}` : `virtualclusters/${prefix}${target.project}/${target.name}`
  const isThere = clusters.some(({ name, lastAsked }) => name === id && lastAsked !== undefined)
  return isThere || entries.some(({ request }) => request.endsWith(whereWords(target)))
}

/** Returns the place as the requests of usage end in it. */
const whereWords = (target: Target): string =>
  target.kind === 'virtualCluster'
    ? ` in virtual cluster "${target.project}/${target.name}"`
    : target.kind === 'cluster'
      ? ` in cluster "${target.name}"`
      : ''

/** Returns a line for each subject with all verbs, such as `  get, list pods in namespace "web"`: those of the cluster, then others. */
function inPlaces(requests: readonly string[], target: Target): string[] {
  const where = whereWords(target)
  const here = requests.filter((one) => where !== '' && one.endsWith(where))
  const elsewhere = requests.filter((one) => !here.includes(one))
  return [...linesOf(here.map((one) => one.slice(0, -where.length))), ...linesOf(elsewhere)]
}

function linesOf(requests: readonly string[]): string[] {
  const verbs = new Map<string, string[]>()
  for (const request of [...requests].sort()) {
    const [, verb = request, subject = ''] = /^(\S+) of (.*)$/s.exec(request) ?? []
    verbs.set(subject, [...(verbs.get(subject) ?? []), verb])
  }
  return [...verbs].map(([subject, all]) => `  ${all.join(', ')} ${subject}`.trimEnd())
}
