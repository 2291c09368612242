//! Products of matrices modulo a number, as for Fibonacci numbers, linear recurrences and paths in
//! a graph.

use warpfold::{DeviceType, Monoid, monoid};

/// A row-major 2 x 2 matrix. Each entry is below the modulus.
pub type Matrix = [[u64; 2]; 2];

/// The matrix product, left times right, modulo a number below 2^31.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct ModularMatrix {
    pub modulus: u64,
}

#[monoid]
impl Monoid for ModularMatrix {
    type Item = Matrix;
    fn identity(&self) -> Matrix {
        let one = 1 % self.modulus;
        [[one, 0], [0, one]]
    }
    fn combine(&self, left: Matrix, right: Matrix) -> Matrix {
        let mut product = [[0; 2]; 2];
        for row in 0..2 {
            for column in 0..2 {
                let sum = left[row][0] * right[0][column] + left[row][1] * right[1][column];
                product[row][column] = sum % self.modulus;
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    const OPERATOR: ModularMatrix = ModularMatrix { modulus: 998_244_353 };

    fn matrices() -> impl Strategy<Value = Matrix> + Clone {
        prop::array::uniform2(prop::array::uniform2(0..OPERATOR.modulus))
    }

    warpfold::laws! {
        modular_matrix: Laws::of(OPERATOR, matrices());
    }
}
