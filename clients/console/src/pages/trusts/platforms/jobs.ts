/** Fills the jobs of a platform with the values of a trust. No value can become part of a command. */
import type { ClaimEntry } from '../../../text/claims.ts'
import { toYaml } from '../../../text/yaml.ts'
import type { JobTemplate } from './platforms.ts'

/** What a job must know. */
export interface JobValues {
  /** URL of the API, without a slash at its end. */
  url: string
  clientID: string
  /** What the ID token must be for. */
  audience: string
  /** The claims of the trust and of its provider. */
  claims: readonly ClaimEntry[]
  /** `PROJECT/NAME` of the virtual cluster, if the trust is for one. */
  virtualCluster?: string
}

/** A value that no job can take: a shell, a file or an expression of the platform could read it as something else. */
export class UnsafeValue extends Error {
  constructor(name: string) {
    super(`The ${name} has characters that could become part of a command. Write the job by hand.`)
    this.name = 'UnsafeValue'
  }
}

/** Characters that mean nothing inside double quotes of a shell, HCL and the expressions of any platform. */
const SAFE = /^[\p{L}\p{N}_.:/@~+ =,-]+$/u
const SAFE_URL = /^https:\/\/[\w.:[\]-]+(\/[\w.~-]+)*$/
const SAFE_CLIENT_ID = /^[a-z0-9][a-z0-9.-]*@[0-9a-f-]+$/

function safe(name: string, text: string, form = SAFE): string {
  if (!form.test(text)) throw new UnsafeValue(name)
  return text
}

const yaml = (name: string, text: string): string => toYaml(safe(name, text)).trimEnd()

/** Returns the jobs. Throws UnsafeValue if one of the values could break out of them. */
export function fillJobs(templates: readonly JobTemplate[], values: JobValues): JobTemplate[] {
  const marks = marksOf(values)
  return templates.map(({ title, next, text }) => ({
    title,
    ...(next && { next: fill(next, marks) }),
    text: fill(text, marks),
  }))
}

type Marks = Readonly<Record<string, string | undefined>>

/** Replaces marks. A line with a mark that has no value is left out; `{{?NAME}}` writes nothing but does the same. */
const fill = (template: string, marks: Marks): string =>
  template
    .split('\n')
    .flatMap((line) => {
      const found = [...line.matchAll(/\{\{\??(\w+)\}\}/g)]
      if (found.some(([, name = '']) => marks[name] === undefined)) return []
      return line.replace(/\{\{(\??)(\w+)\}\}/g, (_, isQuiet, name) => (isQuiet ? '' : (marks[name] ?? '')))
    })
    .join('\n')

/** The ids that a token of Buildkite has only if the job asks for them. */
const ASKED = ['organization_id', 'pipeline_id', 'cluster_id', 'queue_id']

function marksOf({ url, clientID, audience, claims, virtualCluster }: JobValues): Marks {
  /** Returns the exact value of a claim if there is one only. */
  const bound = (claim: string): string | undefined => {
    const { values = [], patterns = [] } = claims.find((one) => one.claim === claim) ?? {}
    return values.length === 1 && patterns.length === 0 ? values[0] : undefined
  }
  const environment = bound('environment')
  const branch = /^refs\/heads\/(.+)$/s.exec(bound('ref') ?? '')?.[1] ?? bound('branchName') ?? 'main'
  const [, namespace = 'NAMESPACE', account = 'NAME'] =
    /^system:serviceaccount:([^:]+):([^:]+)$/s.exec(bound('sub') ?? '') ?? []
  const isOwn = audience === url
  return {
    url: safe('URL of this server', url, SAFE_URL),
    credential: safe('client ID', clientID, SAFE_CLIENT_ID),
    rawAudience: audience,
    audience: yaml('audience', audience),
    otherAudience: isOwn ? undefined : yaml('audience', audience),
    urlAudience: isOwn ? '$KEYPLANE' : encodeURIComponent(audience),
    shellAudience: isOwn ? '$KEYPLANE' : audience,
    buildkiteAudience: isOwn ? '$$KEYPLANE' : audience,
    environment: environment === undefined ? undefined : yaml('environment', environment),
    branch: yaml('branch', branch),
    namespace: yaml('namespace', namespace),
    account: yaml('service account', account),
    ids: ASKED.filter((id, at) => at === 0 || claims.some(({ claim }) => claim === id)).join(','),
    virtualCluster: virtualCluster === undefined ? undefined : safe('virtual cluster', virtualCluster),
    resource: virtualCluster === undefined ? 'ownedaccesskeys' : 'pods',
  }
}
