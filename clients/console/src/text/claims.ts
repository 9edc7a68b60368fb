/** Says in words which jobs the claims of a trust let in. Values are texts of others, and are quoted where they could read as words. */
import type { TrustSpec } from '../../../../lib/federation/federatedidentitycredential.schema.ts'

/** Requires one claim of an ID token to have one of the values or to fit one of the patterns. */
export type ClaimEntry = TrustSpec['claims'][number]

/** What the names of claims say they are about, once what surrounds it is left out. */
const SUBJECTS =
  'repository|repository_owner|enterprise|project|namespace|organization|pipeline|cluster|queue|workspace|origin|context|' +
  'deploymentEnvironment|run_phase|environment|deployment_tier|ref|ref_type|branch|build_branch|build_tag|step_key|' +
  'event_name|pipeline_source|(?:job_)?workflow_ref|sub'
const TELLING = new RegExp(`^(?:terraform_|oidc\\.circleci\\.com/(?:vcs-)?)?((?:${SUBJECTS})(?:_id|-ids?|Uuid|Name)?)$`)

/** Returns `repository owner` for `repository_owner_id`, or the whole claim if its name is not known. */
function nounOf(claim: string): string {
  const [, name] = TELLING.exec(claim) ?? []
  if (name === undefined) return `claim ${quoted(claim)}`
  if (name === 'sub') return 'subject'
  return name
    .replace(/(_id|-ids?|Uuid|Name)$/, '')
    .replace(/[_-]|(?=[A-Z])/g, ' ')
    .toLowerCase()
}

/** Whose ID tokens each platform signs. */
const HOLDERS: Readonly<Record<string, string>> = {
  GitHub: 'Jobs',
  GitLab: 'Jobs',
  Buildkite: 'Builds',
  CircleCI: 'Jobs',
  Bitbucket: 'Steps',
  TerraformCloud: 'Runs',
  Kubernetes: 'Pods',
}

/** A list of values in a sentence shows this many. The page of the trust has all. */
const MOST_VALUES = 3
const LONGEST_VALUE = 60

/** Returns a sentence such as `Jobs of repository 74, environment production`. `type` is the platform, if it is known. */
export function claimsInWords(entries: readonly ClaimEntry[], type = ''): string {
  const holders = Object.hasOwn(HOLDERS, type) ? HOLDERS[type] : undefined
  const parts = entries.map(entryInWords).join(', ')
  return `${holders ? `${holders} of` : 'ID tokens with'} ${parts}`
}

function entryInWords({ claim, values = [], patterns = [] }: ClaimEntry): string {
  const [only = ''] = values
  const known = values.length === 1 && patterns.length === 0 ? wordsOf(claim, only) : undefined
  if (known !== undefined) return known
  const choices = [...values.map(quoted), ...patterns.map((pattern) => `like ${quoted(pattern)}`)]
  const shown = choices.slice(0, MOST_VALUES)
  if (choices.length > MOST_VALUES) shown.push(`${choices.length - MOST_VALUES} more`)
  return `${nounOf(claim)} ${shown.join(' or ')}`
}

/** Returns the words for values that say more than their text, or undefined. */
function wordsOf(claim: string, value: string): string | undefined {
  if (/(^|_)ref_protected$/.test(claim) && value === 'true') return 'protected branches and tags'
  if (claim === 'environment_protected' && value === 'true') return 'protected environments'
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(value) ?? []
  if (kind && /(^|\/vcs-)ref$/.test(claim)) return `${kind === 'heads' ? 'branch' : 'tag'} ${quoted(name)}`
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/s.exec(claim === 'sub' ? value : '') ?? []
  if (namespace && account) return `service account ${quoted(account)} in namespace ${quoted(namespace)}`
  return undefined
}

/** Returns the text as it is if it cannot be read as other words of the sentence, otherwise in quotes. */
export function quoted(text: string): string {
  const short = text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
  return /^[\p{L}\p{N}_.:/@+*~{}|=…-]+$/u.test(short) ? short : `"${short.replace(/["\\]/g, '\\$&')}"`
}
