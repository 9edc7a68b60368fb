/**
 * The keys that sign tokens, from the setting signing-keys, a list of digits: the first key signs, all are published. Number 1
 * is SigningKey, number N is SigningKeyN, and N-rsa is that key with RS256 instead of ES256. CloudFormation cannot change the algorithm
 * of a key: it makes another one. A key removed from the list is retained in KMS. docs/operating.md describes the rotation.
 */
import { equals, holds, not, or } from './conditions.ts'
import { allow, att, either, none, onlyIf, type Part, type Resource, ref, sub, type Value } from './intrinsics.ts'

const list = ref('SigningKeys')
const first = (separator: string) => ({ 'Fn::Select': [0, { 'Fn::Split': [separator, list] }] })

const keys = Array.from({ length: 9 }, (_, index) => index + 1).map((number) => ({
  number: String(number),
  id: number === 1 ? 'SigningKey' : `SigningKey${number}`,
  listed: `HasSigningKey${number}`,
  signs: `SignsWithKey${number}`,
  isRsa: `HasRsaKey${number}`,
}))
const last = keys.at(-1) as (typeof keys)[number]
const others = keys.slice(0, -1)

/** The ID of the key that signs. */
const signing = others.reduceRight<Value>((rest, { id, signs }) => either(signs, ref(id), rest), ref(last.id))

export const signingConditions: Readonly<Record<string, Value>> = Object.fromEntries(
  keys.flatMap(({ number, listed, signs, isRsa }) => [
    // What is before the number is the whole list only if the number is not in it. That a key which signs is in it, and that one
    // does, is for readers of the template: the pattern of the parameter ensures it.
    [listed, or(holds(signs), not(equals(first(number), list)))],
    [
      signs,
      number === last.number
        ? not(or(...others.map((one) => holds(one.signs))))
        : or(equals(first(','), number), equals(first(','), `${number}-rsa`)),
    ],
    [isRsa, not(equals(first(`${number}-rsa`), list))],
  ]),
)

const key = (Condition: string, isRsa: string): Resource => ({
  Type: 'AWS::KMS::Key',
  Condition,
  // A deployment that fails and is rolled back leaves no new key behind.
  DeletionPolicy: 'RetainExceptOnCreate',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    Description: sub(`keyplane \${Stage} token signing`),
    KeySpec: either(isRsa, 'RSA_2048', 'ECC_NIST_P256'),
    KeyUsage: 'SIGN_VERIFY',
    PendingWindowInDays: 30,
    // The key policy delegates to IAM: only roles of functions with the grant `sign` may sign.
    KeyPolicy: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: sub(`arn:\${AWS::Partition}:iam::\${AWS::AccountId}:root`) },
          Action: 'kms:*',
          Resource: '*',
        },
      ],
    },
  },
})

export const signingKeys: Part = {
  Resources: Object.fromEntries(keys.map(({ id, listed, isRsa }) => [id, key(listed, isRsa)])),
  Outputs: { SigningKeyId: { Value: signing } },
}

const published = keys.map(({ id, listed, signs }) => either(signs, none, onlyIf(listed, ref(id))))

/** Comma-separated: the first key signs, all are published. */
export const signingKeyIds: Value = { 'Fn::Join': [',', [signing, ...published]] }

/** Allows an action with each key. During a rollout, and after one that went back, versions sign with the key that was first before. */
export const allowWithKeys = (action: string) =>
  allow(
    action,
    keys.map(({ id, listed }) => onlyIf(listed, att(id, 'Arn'))),
  )
