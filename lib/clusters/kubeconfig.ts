/** Creates kube configs, from the parent of the request to the YAML text. The parents differ in the credentials that they make. */

import type { UserInfo } from '../access/users/user.ts'
import { rfc3339 } from '../engine/meta/encoding/time.ts'
import type { FieldError } from '../engine/meta/errors/fielderror.ts'
import { forbiddenResource, type StatusError } from '../engine/meta/errors/status.ts'
import type { KindRow } from '../kinds.ts'
import type { Network } from './cluster/network.ts'
import { type ConfigParts, type ConfigUser, kubeConfigText } from './configtext.ts'
import { entryNameOf } from './deployment.ts'
import { isVisibleUser } from './token/visibleuser.ts'

/** What a kube config is for, as one request asks for it. */
export interface Parent {
  /** The kind of its kube configs. */
  row: Pick<KindRow, 'group' | 'plural' | 'subresource'>
  name: string
  /** The name of the cluster, user and context, without that of the deployment. It is different for every parent. */
  entry: string
  /** Its https URL, or the error of the requested one. */
  server: string | { error: FieldError }
  /** How clients reach it. */
  network: Network
  /** The errors of the other fields. */
  errors: readonly FieldError[]
  /** Makes the credential. A dry run checks what needs no cluster and no signature. It is called only if there are no errors. */
  issue(options: { dryRun: boolean }): Promise<Made>
}

/** A credential. A dry run makes no user. */
export type Made = { warnings: string[]; facts: Facts } & (
  | { user: undefined }
  | {
      user: ConfigUser
      /** PEM. */
      authority: string | undefined
      expires: Date | undefined
    }
)

/** The part of a kube config that is for one parent. */
interface Entry {
  /** Absent for a dry run. */
  parts?: ConfigParts
  /** Expiry of the token or certificate, in RFC 3339. Absent for a dry run and for a plugin. */
  expirationTimestamp?: string
  warnings: string[]
  /** Public facts about the credential: its type (`credential`: token, certificate or none) and its identifier. */
  facts: Facts
}

interface KubeConfig extends Omit<Entry, 'parts'> {
  /** YAML. Absent for a dry run. */
  kubeConfig?: string
}

type Facts =
  | { credential: 'token' | 'certificate' | 'none' }
  | { credential: 'token'; jti: string; audiences: readonly string[] }
  | { credential: 'token'; account: string; secret: string }
  | { credential: 'certificate'; serial: string }

interface Request {
  user: Pick<UserInfo, 'name'>
  issuer: string
  dryRun: boolean
}

/** Returns a kube config for the parent. Returns and throws what `createEntry` does. */
export async function createKubeConfig(
  parent: Parent,
  request: Request,
): Promise<KubeConfig | { errors: FieldError[] }> {
  const made = await createEntry(parent, request)
  if ('errors' in made) return made
  const { parts, ...entry } = made
  return { ...(parts && { kubeConfig: await kubeConfigText(parts) }), ...entry }
}

/** Makes the credential of the parent. Field errors are returned. Throws 403 for a user that clusters must not see, and what `issue` throws. */
export async function createEntry(
  parent: Parent,
  { user, issuer, dryRun }: Request,
): Promise<Entry | { errors: FieldError[] }> {
  const { server } = parent
  const errors = [...parent.errors, ...(typeof server === 'string' ? [] : [server.error])]
  if (errors.length > 0 || typeof server !== 'string') return { errors }
  if (!isVisibleUser(user.name))
    throw forbiddenKubeConfig(parent, 'users whose names begin with "system:" cannot have kube configs')

  const made = await parent.issue({ dryRun })
  const { warnings, facts } = made
  if (made.user === undefined) return { warnings, facts }
  return {
    parts: {
      name: entryNameOf(parent.entry, issuer),
      server,
      network: parent.network,
      ...(made.authority !== undefined && { certificateAuthority: made.authority }),
      user: made.user,
    },
    ...(made.expires && { expirationTimestamp: rfc3339(made.expires) }),
    warnings,
    facts,
  }
}

export const forbiddenKubeConfig = ({ row, name }: Pick<Parent, 'row' | 'name'>, why: string): StatusError =>
  forbiddenResource({ group: row.group, resource: `${row.plural}/${row.subresource}` }, name, why)
