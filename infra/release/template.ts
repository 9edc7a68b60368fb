/** Makes the template of a release: the one that `npm run deploy` uses, with the archives in a bucket of the user's. */
import type { StackTemplate } from '../stack/template.ts'

interface Function {
  Type: string
  Properties: { Code: unknown; Handler: string }
}

/** Parameters that say where the archives are. */
const parameters = {
  ArtifactBucket: {
    Type: 'String',
    Description: 'Bucket in the region of the deployment that has the archives of this release.',
    AllowedPattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
    ConstraintDescription: 'must be the name of a bucket',
  },
  ArtifactPrefix: {
    Type: 'String',
    Description: 'Prefix of the keys of the archives in the bucket: empty, or a path that ends with a slash.',
    Default: '',
    AllowedPattern: "^([A-Za-z0-9!_.*'()-]+/)*$",
    ConstraintDescription: 'must be nothing, or a path that ends with a slash',
    MaxLength: 512,
  },
} as const

/** The resources and the output of the bucket into which the deploy tool uploads. */
const ownBucket = ['ServerlessDeploymentBucket', 'ServerlessDeploymentBucketPolicy', 'ServerlessDeploymentBucketName']

/**
 * Returns the template. `archives` has the file of each function by the module of its handler, such as `functions/sweep`. The name of the
 * file must change with its contents: CloudFormation updates a function when the name of its archive is new.
 */
export function releaseTemplate(
  template: StackTemplate,
  version: string,
  archives: ReadonlyMap<string, string>,
): object {
  const { Parameters, Metadata, Rules, Conditions, Resources, Outputs } = template
  const { ParameterGroups, ...labels } = Metadata['AWS::CloudFormation::Interface']
  const release = { Label: { default: 'The release' }, Parameters: Object.keys(parameters) }
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: `keyplane ${version}`,
    Metadata: { 'AWS::CloudFormation::Interface': { ParameterGroups: [release, ...ParameterGroups], ...labels } },
    Parameters: { ...parameters, ...Parameters },
    Rules,
    Conditions,
    Resources: Object.fromEntries(
      Object.entries(withoutBucket(Resources)).map(([id, resource]) => [
        id,
        withArchive(resource as Function, archives),
      ]),
    ),
    Outputs: withoutBucket(Outputs),
  }
}

const withoutBucket = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([id]) => !ownBucket.includes(id)))

function withArchive(resource: Function, archives: ReadonlyMap<string, string>): object {
  if (resource.Type !== 'AWS::Lambda::Function') return resource
  const { Code: _, ...properties } = resource.Properties
  const name = archives.get(properties.Handler.replace(/\.\w+$/, ''))
  if (name === undefined) throw new Error(`there is no archive for ${properties.Handler}`)
  const Code = { S3Bucket: { Ref: 'ArtifactBucket' }, S3Key: { 'Fn::Sub': `\${ArtifactPrefix}${name}` } }
  return { ...resource, Properties: { Code, ...properties } }
}
