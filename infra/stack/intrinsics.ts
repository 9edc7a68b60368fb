/** Writes values of CloudFormation templates. */

/** A value of a template: JSON, possibly with intrinsic functions. */
export type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value | undefined }

export interface Resource {
  Type: string
  Condition?: string
  DependsOn?: string | readonly string[]
  DeletionPolicy?: 'Delete' | 'Retain' | 'RetainExceptOnCreate'
  UpdateReplacePolicy?: 'Delete' | 'Retain'
  UpdatePolicy?: Value
  Properties: Readonly<Record<string, Value | undefined>>
}

/** Resources by their logical IDs. */
export type Resources = Readonly<Record<string, Resource>>

export interface Output {
  Description?: string
  Condition?: string
  Value: Value
}

/** What a module adds to the template. */
export interface Part {
  Resources: Resources
  Outputs?: Readonly<Record<string, Output>>
}

export const ref = (id: string) => ({ Ref: id })
export const att = (id: string, attribute: string) => ({ 'Fn::GetAtt': [id, attribute] })
export const sub = (text: string) => ({ 'Fn::Sub': text })

export const none = ref('AWS::NoValue')
export const either = (condition: string, one: Value, other: Value) => ({ 'Fn::If': [condition, one, other] })
export const onlyIf = (condition: string, value: Value) => either(condition, value, none)

/** Returns the list of a parameter whose parts have commas between them. */
export const split = (parameter: string) => ({ 'Fn::Split': [',', ref(parameter)] })

/** Returns an ARN of the account and region of the stack. */
export const arn = (service: string, resource: string) =>
  sub(`arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource}`)

/** Returns the name of a resource of the deployment. */
export const named = (suffix: string) => sub(`keyplane-\${Stage}-${suffix}`)

/** Returns what trusts a service of AWS with a role. */
export const trusts = (service: string, condition?: Value) =>
  policy({
    Effect: 'Allow',
    Principal: { Service: `${service}.amazonaws.com` },
    Action: 'sts:AssumeRole',
    ...(condition !== undefined && { Condition: condition }),
  })

/** The condition that a service acts for this account. */
export const forThisAccount = { StringEquals: { 'aws:SourceAccount': ref('AWS::AccountId') } }

export const policy = (...Statement: Value[]) => ({ Version: '2012-10-17', Statement })

export const allow = (Action: string | readonly string[], Resource: Value, Condition?: Value) => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...(Condition !== undefined && { Condition }),
})
