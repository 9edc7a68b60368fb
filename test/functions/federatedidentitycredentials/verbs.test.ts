import { beforeEach, expect } from 'vitest'
import { trusts } from '../stored/fixtures.ts'
import { describeVerbs } from '../stored/verbs.ts'

describeVerbs(trusts, (functions) => {
  beforeEach(async () => {
    const { status } = await functions.invoke('identityproviders/create')
    expect([201, 409]).toContain(status)
  })
})
