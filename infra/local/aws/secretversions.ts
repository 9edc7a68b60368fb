/**
 * Secrets, their versions and staging labels as pure changes of one state. Values are sealed before they come here.
 * Source: AWS Secrets Manager API Reference, "How version staging labels work".
 */
import { AwsError } from './awsjson.ts'

export interface SecretVersion {
  id: string
  /** Unix milliseconds. */
  created: number
  stages: string[]
  /** The member that it travels in. */
  member: 'SecretString' | 'SecretBinary'
  /** base64 of the ciphertext. */
  sealed: string
}

export interface Secret {
  arn: string
  name: string
  description: string
  /** Unix milliseconds. */
  created: number
  changed: number
  /** When it was marked for deletion, and when it goes. */
  deleted?: { at: number; due: number }
  tags: { Key: string; Value: string }[]
  /** Oldest first. */
  versions: SecretVersion[]
}

/** The whole state of the endpoint. */
export interface SecretsState {
  secrets: Secret[]
}

export const NO_SECRETS: SecretsState = { secrets: [] }

const CURRENT = 'AWSCURRENT'
const PREVIOUS = 'AWSPREVIOUS'

/** As many versions without a label as AWS keeps at least. */
const MAX_UNLABELLED = 100

const notFound = (what = 'secret'): AwsError =>
  new AwsError('ResourceNotFoundException', `Secrets Manager can't find the specified ${what}.`)

/** By name, ARN, or ARN without its random suffix. A secret past its recovery window is gone. */
export function findSecret({ secrets }: SecretsState, reference: string, now: number): Secret {
  const secret = secrets.find(
    ({ name, arn, deleted }) =>
      (name === reference || arn === reference || arn.slice(0, -7) === reference) && !(deleted && deleted.due <= now),
  )
  if (!secret) throw notFound()
  return secret
}

/** The same, unless it is marked for deletion. */
export function findLiving(state: SecretsState, reference: string, now: number): Secret {
  const secret = findSecret(state, reference, now)
  if (secret.deleted)
    throw new AwsError(
      'InvalidRequestException',
      "You can't perform this operation on the secret because it was marked for deletion.",
    )
  return secret
}

/** By version id, by label, or by both when they agree; the current version by default. */
export function findVersion({ versions }: Secret, id: string | undefined, stage: string | undefined): SecretVersion {
  const byId = id === undefined ? undefined : versions.find((one) => one.id === id)
  if (id !== undefined && !byId) throw notFound(`secret value for VersionId: ${id}`)
  if (byId && stage !== undefined && !byId.stages.includes(stage))
    throw new AwsError(
      'InvalidRequestException',
      'You provided a VersionStage that is not associated to the provided VersionId.',
    )
  const version = byId ?? versions.find(({ stages }) => stages.includes(stage ?? CURRENT))
  if (!version) throw notFound(`secret value for staging label: ${stage ?? CURRENT}`)
  return version
}

/** Adds a version, moves the labels to it, and leaves AWSPREVIOUS where AWSCURRENT was. */
export function addVersion(secret: Secret, version: SecretVersion): void {
  if (secret.versions.length === 0 && !version.stages.includes(CURRENT)) version.stages.push(CURRENT)
  const current = secret.versions.find(({ stages }) => stages.includes(CURRENT))
  const moved = version.stages.includes(CURRENT) && current ? [...version.stages, PREVIOUS] : version.stages
  for (const one of secret.versions) one.stages = one.stages.filter((stage) => !moved.includes(stage))
  if (moved !== version.stages) current?.stages.push(PREVIOUS)
  secret.versions.push(version)
  secret.changed = version.created
  const unlabelled = secret.versions.filter(({ stages }) => stages.length === 0)
  const surplus = new Set(unlabelled.slice(0, Math.max(0, unlabelled.length - MAX_UNLABELLED)))
  secret.versions = secret.versions.filter((one) => !surplus.has(one))
}
