/**
 * Makes the parameters of the template from the settings, their groups in the console of AWS, and the rules about settings that
 * require each other. Sources in the AWS CloudFormation User Guide: "CloudFormation template Parameters syntax",
 * "AWS::CloudFormation::Interface" and "CloudFormation template Rules syntax".
 */
import { forms } from '../../lib/server/process/variables.ts'
import { patternOf } from './range.ts'
import { formOf, parameterOf, type Setting } from './setting.ts'
import { groups, settings } from './table.ts'

export interface Parameter {
  Type: 'String' | 'Number'
  Description: string
  Default?: string
  AllowedValues?: string[]
  AllowedPattern?: string
  ConstraintDescription?: string
  MaxLength?: number
  MinValue?: number
  MaxValue?: number
}

const [stagePattern, stageForm] = forms.STAGE

const stage: Parameter = {
  Type: 'String',
  Description: `Name of the deployment, which is part of the names of its resources: ${stageForm}.`,
  AllowedPattern: stagePattern.source,
  ConstraintDescription: `must be ${stageForm}`,
}

/** The parameters by name. An empty value of one without a default stands for none. */
export const parameters: Readonly<Record<string, Parameter>> = {
  Stage: stage,
  ...Object.fromEntries([...settings].map(([name, setting]) => [parameterOf(name), parameterFor(setting)])),
}

function parameterFor(setting: Setting): Parameter {
  const { default: byDefault } = setting
  const optional = byDefault === undefined
  const common = { Description: descriptionOf(setting), Default: String(byDefault ?? '') }
  const constraint = { ConstraintDescription: `must be ${formOf(setting)}${optional ? ', or nothing' : ''}` }
  const pattern = (source: string) => ({ AllowedPattern: (optional ? '^$|' : '') + source, ...constraint })
  if (setting.type === 'boolean') return { Type: 'String', ...common, AllowedValues: ['true', 'false'] }
  if (setting.type === 'choice')
    return { Type: 'String', ...common, AllowedValues: [...(optional ? [''] : []), ...setting.values] }
  if (setting.type === 'text') {
    const length = setting.maximumLength === undefined ? {} : { MaxLength: setting.maximumLength }
    return { Type: 'String', ...common, ...pattern(setting.pattern.source), ...length }
  }
  const { minimum, maximum, zero, values } = setting
  if (values) return { Type: 'Number', ...common, AllowedValues: values.map(String) }
  if (!optional && (zero === undefined || minimum <= 1))
    return { Type: 'Number', ...common, MinValue: zero === undefined ? minimum : 0, MaxValue: maximum }
  return {
    Type: 'String',
    ...common,
    ...pattern(`^(${zero === undefined ? '' : '0|'}${patternOf(minimum, maximum)})$`),
  }
}

/** Returns the description without the marks of Markdown, whose links are relative. */
function descriptionOf(setting: Setting): string {
  const [meaning, ...others] = setting.text.split(/ \*\*\w+:\*\* /)
  const zero = setting.type === 'integer' && setting.zero !== undefined ? `; 0: ${setting.zero}` : ''
  const unit = setting.type === 'integer' ? [`Unit: ${setting.unit}${zero}.`] : []
  return [meaning, ...unit, ...others]
    .join(' ')
    .replace(/: see \[[^\]]*\]\([^)]*\)| See \[[^\]]*\]\([^)]*\)\.| \(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
}

/** `Metadata` of the template. */
export const metadata = {
  'AWS::CloudFormation::Interface': {
    ParameterGroups: [
      { Label: { default: 'The deployment' }, Parameters: ['Stage'] },
      ...groups.map(({ heading, settings }) => ({
        Label: { default: heading },
        Parameters: Object.keys(settings).map(parameterOf),
      })),
    ],
    ParameterLabels: Object.fromEntries([...settings.keys()].map((name) => [parameterOf(name), { default: name }])),
  },
}

/** Holds if a setting is given, or true. */
const isGiven = (name: string) => {
  const nothing = settings.get(name)?.type === 'boolean' ? 'false' : ''
  return { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: parameterOf(name) }, nothing] }] }
}

/** `Rules` of the template. CloudFormation changes nothing unless all of them hold. */
export const rules = Object.fromEntries(
  [...settings].flatMap(([name, { requires = [], excludes = [] }]) => {
    const Assertions = [
      ...requires.map((other) => ({
        Assert: isGiven(other),
        AssertDescription: `${parameterOf(name)} requires ${parameterOf(other)}`,
      })),
      ...excludes.map((other) => ({
        Assert: { 'Fn::Not': [isGiven(other)] },
        AssertDescription: `${parameterOf(name)} excludes ${parameterOf(other)}`,
      })),
    ]
    const rule = { RuleCondition: isGiven(name), Assertions }
    return Assertions.length === 0 ? [] : [[`${parameterOf(name)}Rule`, rule] as const]
  }),
)
