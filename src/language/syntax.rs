//! The tree of a body: the subset of Rust's expressions, statements and patterns that has a meaning in CUDA C++.
//!
//! A `usize` named `ty` is a slot, and its type is that slot's. Names are Rust's.

/// A function's body.
#[derive(Debug)]
pub struct Body {
    /// Every variable, parameters first.
    pub locals: &'static [Variable],
    /// How many of them are parameters.
    pub parameters: usize,
    /// The body itself.
    pub block: Block,
}

/// A parameter or a variable.
#[derive(Debug)]
pub struct Variable {
    /// The author's name.
    pub name: &'static str,
    /// Its slot.
    pub ty: usize,
    /// Whether it is declared `mut`, or without a value.
    pub mutable: bool,
}

/// `{ statements; value }`
#[derive(Debug)]
pub struct Block {
    /// In order.
    pub statements: &'static [Statement],
    /// The value, and its line.
    pub value: Option<(u32, &'static Expression)>,
}

/// A statement, and its line in the source.
#[derive(Debug)]
pub struct Statement {
    /// From 1.
    pub line: u32,
    /// What it does.
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
    /// `*self`, or what a field of it is taken of.
    State,
    /// A number, as Rust writes it in base 10, without a suffix.
    Number {
        /// The digits, with a sign.
        text: &'static str,
        /// Its slot.
        ty: usize,
    },
    /// `true` or `false`.
    Bool(bool),
    /// A constant of the [`Translation`](super::Translation).
    Constant(usize),
    /// `base.name`
    Field(&'static Expression, &'static str),
    /// `base[index]`
    Index(&'static Expression, &'static Expression),
    /// `-x`
    Negate(&'static Expression),
    /// `!x`
    Not(&'static Expression),
    /// `left operator right`
    Binary(Operator, &'static Expression, &'static Expression),
    /// `value as T`
    Cast(&'static Expression, usize),
    /// `operands[0].name(operands[1], ...)`, or an associated function of the type of its result.
    Method {
        /// Rust's name for it.
        name: &'static str,
        /// The kinds of numbers that have it: `i` and `u` for signed and unsigned integers, `f`, `b`, and `o` for `Ordering`.
        kinds: &'static str,
        /// What it returns.
        returns: Returns,
        /// The receiver first.
        operands: &'static [Expression],
    },
    /// A callee of the [`Translation`](super::Translation), with its arguments.
    Call(usize, &'static [Expression]),
    /// `T { name: value, ..base }`
    Struct {
        /// The slot of `T`.
        ty: usize,
        /// In the order in which they are written.
        fields: &'static [(&'static str, Expression)],
        /// Where the other fields come from.
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
    /// The `_` that is assigned to.
    Nowhere,
    /// What is made of statements. The slot is there if somebody wants the value.
    Control(Option<usize>, &'static Control),
    /// `place = value`
    Assign(&'static Expression, &'static Expression),
    /// `place operator= value`
    Compound(Operator, &'static Expression, &'static Expression),
}

/// What an expression with statements in it is.
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
        /// Its label.
        label: Option<&'static str>,
        /// What counts, if it has a name.
        variable: Option<usize>,
        /// Its slot.
        ty: usize,
        /// The bounds.
        range: Range,
        /// What is repeated.
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
    /// The first.
    pub low: Expression,
    /// One past the last, or the last.
    pub high: Expression,
    /// Whether `high` is part of it.
    pub inclusive: bool,
    /// Whether it is counted down.
    pub reversed: bool,
}

/// `pattern if guard => value`, and its line.
#[derive(Debug)]
pub struct Arm {
    /// From 1.
    pub line: u32,
    /// What is matched.
    pub pattern: Pattern,
    /// What must hold, too.
    pub guard: Option<Expression>,
    /// What it gives.
    pub value: Expression,
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_`, or `..` in a tuple.
    Any,
    /// `name`, or `name @ pattern`.
    Local(usize, Option<&'static Pattern>),
    /// A literal or a constant, of the type of what is matched.
    Value(PatternValue),
    /// `low..=high`; `low..high` if not inclusive.
    Range(Option<PatternValue>, Option<PatternValue>, bool),
    /// `a | b`
    Or(&'static [Pattern]),
    /// The fields of a struct, by name.
    Fields(&'static [(&'static str, Pattern)]),
    /// The elements of a tuple, a tuple struct or an array: so many from the front, and so many up to the end.
    Elements(&'static [Pattern], &'static [Pattern]),
}

/// A value in a pattern.
#[derive(Clone, Copy, Debug)]
pub enum PatternValue {
    /// As in [`Expression::Number`].
    Number(&'static str),
    /// As in [`Expression::Bool`].
    Bool(bool),
    /// As in [`Expression::Constant`].
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

/// The type that a method returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// That of its receiver.
    Same,
    /// The unsigned integer of the receiver's size.
    Unsigned,
    /// `bool`
    Bool,
    /// `u32`
    U32,
    /// `std::cmp::Ordering`, a signed byte of -1, 0 or 1.
    Ordering,
    /// The type in front of its name, as in `f32::from_bits(x)`, which has this slot.
    Slot(usize),
}
