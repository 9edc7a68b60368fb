import { readFileSync } from 'node:fs'
import { App, Stack } from 'aws-cdk-lib'
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include'

// CloudFormation takes templates up to 1 MB, of which the indentation would be nearly half.
const app = new App({ context: { '@aws-cdk/core:suppressTemplateIndentation': true } })
const stack = new Stack(app, 'keyplane-prod', { env: { region: 'eu-central-1' } })
const templateFile = 'keyplane.template.json'
const included = new CfnInclude(stack, 'keyplane', { templateFile })

// CfnInclude garbles conditions in update policies, which make rollouts gradual.
const { Resources } = JSON.parse(readFileSync(templateFile, 'utf8'))
for (const [id, { UpdatePolicy }] of Object.entries<{ UpdatePolicy?: object }>(Resources)) {
  if (UpdatePolicy) included.getResource(id).addOverride('UpdatePolicy', UpdatePolicy)
}
