/** The members of Secrets Manager calls, with AWS's constraints and words. */
import { bytes, objectList, required, text, textList } from './awsinput.ts'
import { AwsError, type AwsInput } from './awsjson.ts'
import type { Secret, SecretVersion } from './secretversions.ts'

const MAX_VALUE_BYTES = 65_536
const MAX_TAGS = 50

/** A value before it is sealed. */
export type SecretValue = Pick<SecretVersion, 'member'> & { bytes: Buffer }

export const secretId = (input: AwsInput): string => required('SecretId', text(input, 'SecretId', 1, 2048))

export function nameOf(input: AwsInput): string {
  const name = required('Name', text(input, 'Name', 1, 512))
  if (/^[A-Za-z0-9/_+=.@-]+$/.test(name)) return name
  throw new AwsError(
    'ValidationException',
    'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
  )
}

/** Becomes the version's id; SDK clients make one for every call. */
export const tokenOf = (input: AwsInput): string =>
  required('ClientRequestToken', text(input, 'ClientRequestToken', 32, 64))

/** undefined when the call has no value. */
export function secretValueOf(input: AwsInput): SecretValue | undefined {
  const string = text(input, 'SecretString', 1, MAX_VALUE_BYTES)
  const binary = bytes(input, 'SecretBinary', 1, MAX_VALUE_BYTES)
  if (string !== undefined && binary !== undefined)
    throw new AwsError(
      'InvalidParameterException',
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    )
  if (binary !== undefined) return { member: 'SecretBinary', bytes: binary }
  if (string === undefined) return undefined
  const encoded = Buffer.from(string)
  if (encoded.length > MAX_VALUE_BYTES)
    throw new AwsError('ValidationException', `SecretString must not exceed ${MAX_VALUE_BYTES} bytes.`)
  return { member: 'SecretString', bytes: encoded }
}

/** AWSCURRENT where the call names none. */
export function stagesOf(input: AwsInput): string[] {
  const stages = textList(input, 'VersionStages') ?? ['AWSCURRENT']
  if (stages.length === 0 || stages.length > 20 || stages.some((stage) => stage === '' || stage.length > 256))
    throw new AwsError('ValidationException', 'VersionStages must hold 1 to 20 labels of 1 to 256 characters.')
  return [...new Set(stages)]
}

export function tagsOf(input: AwsInput): Secret['tags'] {
  const tags = objectList(input, 'Tags') ?? []
  if (tags.length > MAX_TAGS) throw new AwsError('ValidationException', `A secret has at most ${MAX_TAGS} tags.`)
  return tags.map((tag) => ({
    Key: required('Key', text(tag, 'Key', 1, 128)),
    Value: required('Value', text(tag, 'Value', 0, 256)),
  }))
}

/** The prefixes of each filter by name; any of a filter's, all filters. Other filters are refused rather than ignored. */
export function namePrefixes(input: AwsInput): string[][] {
  return (objectList(input, 'Filters') ?? []).map((filter) => {
    if (text(filter, 'Key', 1, 64) !== 'name')
      throw new AwsError('InvalidParameterException', 'Only filters by name are supported by this endpoint.')
    return required('Values', textList(filter, 'Values'))
  })
}
