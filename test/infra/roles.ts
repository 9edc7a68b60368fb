/** Reads the roles of a packaged template and decides calls of functions as IAM would. */
import { functions } from '../../infra/functions.ts'

export interface Statement {
  Effect: string
  Action: string | string[]
  Resource: unknown
  Condition?: { 'ForAllValues:StringLike'?: { 'dynamodb:LeadingKeys'?: string[] } }
}

/** A call as IAM sees it. `partitions` are the partition keys in a DynamoDB call. */
export interface Asked {
  action: string
  resource: string
  partitions?: readonly string[]
}

export interface Roles {
  /** Returns the role of a function by the path of its file below functions/. */
  statements(name: string): Statement[]
  allows(name: string, asked: Asked): boolean
}

interface Resource {
  Type: string
  Properties: Record<string, unknown>
}

/** `refs` are physical IDs by logical ID, and attributes by `LOGICALID.ATTRIBUTE`. */
export function readRoles(text: string, refs: Readonly<Record<string, string>>): Roles {
  const { Resources } = JSON.parse(text) as { Resources: Record<string, Resource> }
  const byName = new Map(functions.map(({ path, id }) => [path, `${id}LambdaFunction`]))
  const statements = (name: string): Statement[] => {
    const { Role } = (Resources[byName.get(name) ?? '']?.Properties ?? {}) as { Role?: { 'Fn::GetAtt': [string] } }
    const policies = Resources[Role?.['Fn::GetAtt'][0] ?? '']?.Properties.Policies as
      | { PolicyDocument: { Statement: Statement[] } }[]
      | undefined
    return policies?.flatMap(({ PolicyDocument }) => PolicyDocument.Statement) ?? []
  }
  return { statements, allows: (name, asked) => statements(name).some((statement) => covers(statement, asked, refs)) }
}

function covers(
  { Effect, Action, Resource, Condition }: Statement,
  asked: Asked,
  refs: Readonly<Record<string, string>>,
) {
  const { 'ForAllValues:StringLike': like, ...others } = Condition ?? {}
  if (Effect !== 'Allow' || Object.keys(others).length > 0) throw new TypeError('only plain Allow is understood here')
  const { 'dynamodb:LeadingKeys': patterns, ...keys } = like ?? {}
  if (Object.keys(keys).length > 0) throw new TypeError('only LeadingKeys are understood here')
  return (
    [Action].flat().includes(asked.action) &&
    [Resource].flat().some((one) => matches(resolveResource(one, refs), asked.resource)) &&
    (patterns === undefined ||
      (asked.partitions ?? []).every((partition) => patterns.some((pattern) => matches(pattern, partition))))
  )
}

function resolveResource(resource: unknown, refs: Readonly<Record<string, string>>): string {
  if (typeof resource === 'string') return resource
  const { Ref, 'Fn::GetAtt': get, 'Fn::Sub': sub } = resource as Record<string, never>
  if (Ref) return refs[Ref] ?? ''
  if (get) return refs[(get as string[]).join('.')] ?? ''
  return String(sub).replace(/\$\{([^}]+)\}/g, (_, name: string) => refs[name] ?? '')
}

/** `*` matches any characters; IAM's `?` is not supported. */
function matches(pattern: string, text: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${source.join('.*')}$`, 's').test(text)
}
