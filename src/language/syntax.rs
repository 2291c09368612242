//! The tree of a body: the subset of Rust's expressions, statements and patterns that has a meaning
//! in CUDA C++.
//!
//! A `usize` named `ty` is the number of a slot: the node has the slot's type. Names are Rust
//! names. An `Option<usize>` at an operator or a method is the number of a callee of the
//! [`Translated`](super::Translated). Without a function there, it is an operation of numbers.

/// The body of a function.
#[derive(Debug)]
pub struct Body {
    /// Every variable. The parameters come first.
    pub locals: &'static [Variable],
    /// Number of parameters.
    pub parameters: usize,
    /// The statements and the value.
    pub block: Block,
}

/// A parameter or a variable.
#[derive(Debug)]
pub struct Variable {
    /// The name in the Rust source.
    pub name: &'static str,
    /// The slot of its type.
    pub ty: usize,
    /// Whether it is declared `mut`, or without an initial value.
    pub mutable: bool,
}

/// `{ statements; value }`
#[derive(Debug)]
pub struct Block {
    /// The statements, in order.
    pub statements: &'static [Statement],
    /// The value of the block, with its line in the source.
    pub value: Option<(u32, &'static Expression)>,
}

/// A statement, with its line in the source.
#[derive(Debug)]
pub struct Statement {
    /// The line, from 1.
    pub line: u32,
    /// The action.
    pub kind: StatementKind,
}

/// The kinds of [`Statement`].
#[derive(Debug)]
pub enum StatementKind {
    /// `let pattern = value;`
    Let(Pattern, Option<Expression>),
    /// `value;`
    Expression(Expression),
}

/// An expression.
#[derive(Debug)]
pub enum Expression {
    /// A variable.
    Local(usize),
    /// `*self`, or the base of a field access on `self`.
    State,
    /// A field of `self`, by its number in the [`Translated`](super::Translated). It stands for
    /// [`State`](Self::State) and [`Field`](Self::Field) in a body with inner operators.
    StateField(usize),
    /// `operator.combine(left, right)`, with the number of the inner operator.
    Inner(usize, &'static [Expression]),
    /// A number in base 10, as Rust writes it, without a suffix.
    Number {
        /// The digits, with a sign if negative.
        text: &'static str,
        /// The slot of its type.
        ty: usize,
    },
    /// `true` or `false`.
    Bool(bool),
    /// A constant of the [`Translated`](super::Translated), by index.
    Constant(usize),
    /// `base.name`
    Field(&'static Expression, &'static str),
    /// `base[index]`
    Index(&'static Expression, &'static Expression, Option<usize>),
    /// `-x`
    Negate(&'static Expression, Option<usize>),
    /// `!x`
    Not(&'static Expression, Option<usize>),
    /// `left operator right`
    Binary(Operator, &'static Expression, &'static Expression, Option<usize>),
    /// A value that must be a number.
    OfNumber(&'static Expression),
    /// `value as T`
    Cast(&'static Expression, usize),
    /// `operands[0].name(operands[1], ...)`, or an associated function of the result's type.
    Method {
        /// The name in Rust.
        name: &'static str,
        /// The kinds of numbers that have the method: `i` for signed and `u` for unsigned integers,
        /// `f` for floats, `h` for 16-bit floats, `b` for `bool` and `o` for `Ordering`.
        kinds: &'static str,
        /// The type of the result.
        returns: Returns,
        /// The operands, the receiver first.
        operands: &'static [Expression],
        /// The method, if it is of a type of the user.
        callee: Option<usize>,
    },
    /// A call of a callee of the [`Translated`](super::Translated), by index, with its arguments.
    Call(usize, &'static [Expression]),
    /// `T { name: value, ..base }`
    Struct {
        /// The slot of `T`.
        ty: usize,
        /// The fields in the order of the source.
        fields: &'static [(&'static str, Expression)],
        /// The struct that supplies the other fields.
        base: Option<&'static Expression>,
    },
    /// `(a, b)`
    Tuple(&'static [Expression]),
    /// `[a, b]`, with the slot of the array.
    Array(usize, &'static [Expression]),
    /// `[value; n]`, with the slot of the array.
    Repeat(usize, &'static Expression),
    /// `array.len()`
    Length(&'static Expression),
    /// An operator of a type of another crate that acts on each field, with its operands and the slot
    /// of its result. No macro writes it.
    ByFields(ByFields, &'static [Expression], usize),
    /// The `_` on the left of an assignment.
    Nowhere,
    /// An expression that contains statements. The slot is present if its value is used.
    Control(Option<usize>, &'static Control),
    /// `place = value`
    Assign(&'static Expression, &'static Expression),
    /// `place operator= value`
    Compound(Operator, &'static Expression, &'static Expression, Option<usize>),
}

/// An expression that contains statements.
#[derive(Debug)]
pub enum Control {
    /// `{ ... }`
    Block(Block),
    /// `if condition { then } else { otherwise }`
    If(Expression, Block, Option<Expression>),
    /// `match value { arms }`
    Match(Expression, &'static [Arm]),
    /// `'label: loop { ... }`
    Loop(Option<&'static str>, Block),
    /// `'label: while condition { ... }`
    While(Option<&'static str>, Expression, Block),
    /// `'label: for variable in range { ... }`
    For {
        /// The label of the loop.
        label: Option<&'static str>,
        /// The loop variable, if it has a name.
        variable: Option<usize>,
        /// The slot of the loop variable's type.
        ty: usize,
        /// The range that the variable runs through.
        range: Range,
        /// The body of the loop.
        body: Block,
    },
    /// `break 'label value`
    Break(Option<&'static str>, Option<Expression>),
    /// `continue 'label`
    Continue(Option<&'static str>),
    /// `return value`
    Return(Expression),
}

/// `low..high`, `low..=high`, and either with `.rev()`.
#[derive(Debug)]
pub struct Range {
    /// The lowest value.
    pub low: Expression,
    /// The upper bound: one past the highest value, or the highest value if `inclusive`.
    pub high: Expression,
    /// Whether the range contains `high`.
    pub inclusive: bool,
    /// Whether the loop counts down.
    pub reversed: bool,
}

/// `pattern if guard => value`, with its line in the source.
#[derive(Debug)]
pub struct Arm {
    /// The line, from 1.
    pub line: u32,
    /// The pattern.
    pub pattern: Pattern,
    /// The guard.
    pub guard: Option<Expression>,
    /// The value of the arm.
    pub value: Expression,
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_`, or `..` in a tuple.
    Any,
    /// `name`, or `name @ pattern`.
    Local(usize, Option<&'static Pattern>),
    /// A literal or a constant, of the type of the matched value.
    Value(PatternValue),
    /// `low..=high`; `low..high` if not inclusive.
    Range(Option<PatternValue>, Option<PatternValue>, bool),
    /// `a | b`
    Or(&'static [Pattern]),
    /// The fields of a struct, by name.
    Fields(&'static [(&'static str, Pattern)]),
    /// The elements of a tuple, a tuple struct or an array: patterns for the first elements, and
    /// patterns for the last elements.
    Elements(&'static [Pattern], &'static [Pattern]),
}

/// A value in a pattern.
#[derive(Clone, Copy, Debug)]
pub enum PatternValue {
    /// Like [`Expression::Number`].
    Number(&'static str),
    /// Like [`Expression::Bool`].
    Bool(bool),
    /// Like [`Expression::Constant`].
    Constant(usize),
}

/// The binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

/// An operator or a function that acts on each field of its operands. A number is an operand for each field.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum ByFields {
    Binary(Operator),
    Negate,
    Not,
    /// `v[i]`, whose elements are the fields.
    Element,
    /// `V::new(x, y)`, with a value for each field.
    New,
    /// `V::splat(x)`, with one value for all fields.
    Splat,
}

/// The type of a method's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// The type of the receiver.
    Same,
    /// The unsigned integer of the receiver's size.
    Unsigned,
    /// `bool`
    Bool,
    /// `u32`
    U32,
    /// `std::cmp::Ordering`, a signed byte of -1, 0 or 1.
    Ordering,
    /// `Option<std::cmp::Ordering>`
    PartialOrdering,
    /// The type before the method's name, as in `f32::from_bits(x)`: the type of this slot.
    Slot(usize),
}
