/** Compares how AWS names its parts with what the SDK knows. */
import { partition } from '@aws-sdk/core/client'
import { expect, test } from 'vitest'
import { awsHost, partitionOf } from '../../../../lib/engine/outbound/awspartitions.ts'

test.each([
  'eu-central-1',
  'us-gov-west-1',
  'cn-north-1',
  'eusc-de-east-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'us-isof-south-1',
  'eu-isoe-west-1',
])('%s is in the partition that the SDK knows', (region) => {
  const { name, dnsSuffix, dualStackDnsSuffix } = partition(region)
  expect(partitionOf(region)).toEqual({ name, domain: dnsSuffix, dualStack: dualStackDnsSuffix })
  expect(awsHost('sts', region)).toBe(`sts.${region}.${dnsSuffix}`)
})
